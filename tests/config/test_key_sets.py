"""Key-set paging: each row once and in order, from both ends, while rows are inserted."""

from datetime import UTC, datetime, timedelta
from operator import attrgetter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import ApiKey
from accounts.roles import Role
from config.key_sets import KeySet

pytestmark = pytest.mark.django_db
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
NEVER = datetime(9999, 1, 1, tzinfo=UTC)

ORDERS = [("last_used_at", "pk"), ("-last_used_at", "-pk"), ("-name", "pk"), ("last_used_at", "-created_at", "-pk")]
ROWS = st.lists(st.tuples(st.none() | st.integers(0, 3), st.sampled_from("abc")), min_size=1, max_size=12)


def keys(organization, rows):
    """Create keys, each from the day of its last use and its name. Return their primary keys."""
    created = [
        ApiKey.objects.create(
            organization=organization, key_id=f"{ApiKey.objects.for_organization(organization).count():016}",
            name=name, role=Role.SENDER, last_used_at=None if day is None else BEGINNING + timedelta(days=day),
        )
        for day, name in rows
    ]  # fmt: skip
    return {row.pk for row in created}


def in_order(rows, order):
    """Sort rows as the list should be, with those without the first column at the end."""
    rows = list(rows)
    for name in reversed(order):
        value = attrgetter(name.removeprefix("-"))
        rows.sort(
            key=lambda row, value=value: NEVER if value(row) is None else value(row), reverse=name.startswith("-")
        )
    if order[0].endswith("last_used_at"):
        rows.sort(key=lambda row: row.last_used_at is None)
    return [row.pk for row in rows]


@pytest.mark.parametrize("order", ORDERS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=ROWS, between=ROWS, size=st.integers(1, 5))
def test_pages_show_each_row_once_and_in_order_while_rows_are_inserted(organization, order, before, between, size):
    ApiKey.objects.for_organization(organization).delete()
    there, waiting = keys(organization, before), list(between)

    def walk(step):
        """Return the rows of all pages. Insert a row after each page."""
        shown, position = [], None
        while page := step(position):
            shown += page
            position = key_set().read(key_set().position(page[-1]))
            if waiting:
                keys(organization, [waiting.pop()])
        return [row.pk for row in shown]

    def key_set():
        return KeySet(ApiKey.objects.for_organization(organization).order_by(*order))

    expected = in_order(ApiKey.objects.for_organization(organization), order)
    forwards = walk(lambda position: key_set().after(position, size))
    assert [pk for pk in forwards if pk in there] == expected
    everything = in_order(ApiKey.objects.for_organization(organization), order)
    last = ApiKey.objects.get(pk=everything[-1])
    backwards = key_set().before(key_set().position(last), len(everything))
    assert [row.pk for row in backwards] == everything[:-1]
