"""SQLite's planner statistics: `migrate` writes those of 200 organizations for every index; nothing measures rows."""

import pytest
from django.db import connection

from config import planner_statistics

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]
_INDEXES = "SELECT i.name FROM sqlite_master m, pragma_index_list(m.name) i WHERE m.type = 'table'"


def rows(sql):
    with connection.cursor() as cursor:
        return cursor.execute(sql).fetchall()


def statistics():
    return dict(rows("SELECT idx, stat FROM sqlite_stat1"))


def test_every_index_has_statistics():
    assert set(statistics()) == {name for (name,) in rows(_INDEXES)}


@pytest.mark.parametrize(
    ("index", "numbers"),
    {
        "decisions_newest": "1000000 5000 1 1",
        "decisions_by_system": "1000000 5000 250 1 1",
        "decisions_by_subject": "1000000 5000 10",
        "reconsiderations_newest": "50000 250 1 1",  # a partial index
        "sqlite_autoindex_decisions_decision_2": "1000000 5000 1",  # unique
        "notices_notice_decision_id_5cc73f43": "1000000 10",  # a reference
        "sqlite_autoindex_notices_noticesettings_1": "200 1",  # one row for each organization
    }.items(),
)
def test_statistics_are_those_of_two_hundred_organizations(index, numbers):
    assert statistics()[index] == f"{numbers} noskipscan"


def test_the_next_migration_replaces_measured_statistics():
    expected = statistics()
    rows("ANALYZE")
    assert statistics() != expected
    planner_statistics.install()
    assert statistics() == expected
