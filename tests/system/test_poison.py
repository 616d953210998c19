"""Records that the database refuses: they are refused alone, without the other records of their group."""

import pytest

from tests.system.live import server
from tests.system.test_concurrency import post_at_once

# PostgreSQL refuses by a constraint, SQLite by a trigger: it cannot add constraints.
REFUSE = {
    True: "CREATE TRIGGER poison BEFORE INSERT ON decisions_decision WHEN NEW.decision_id LIKE 'poison%' "
    "BEGIN SELECT RAISE(ABORT, 'poison'); END",
    False: "ALTER TABLE decisions_decision ADD CONSTRAINT poison CHECK (decision_id NOT LIKE 'poison%')",
}
ACCEPT = {True: "DROP TRIGGER poison", False: "ALTER TABLE decisions_decision DROP CONSTRAINT poison"}


@pytest.mark.parametrize("vault", ["database", "filesystem"])
def test_a_row_that_the_database_refuses_does_not_affect_other_records(vault):
    bodies = [b'{"decision_id": "%s-%d"}' % (b"good" if n % 4 else b"poison", n) for n in range(64)]
    with server(CUSTODY_VAULT=vault, workers=1) as live:
        on_sqlite = live.environment["DATABASE_URL"].startswith("sqlite")
        live.sql(REFUSE[on_sqlite])
        refused = [answer.status for answer in post_at_once(live, bodies)]
        assert [status == 201 for status in refused] == [b"good" in body for body in bodies]
        live.sql(ACCEPT[on_sqlite])
        accepted = [answer.status for answer in post_at_once(live, bodies)]
        assert live.answered_by_lane() > 0
        assert accepted == [200 if b"good" in body else 201 for body in bodies]
