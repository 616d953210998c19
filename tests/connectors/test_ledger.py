"""The ledger: it is queried a page at a time, accepts every name, and forgets what the source no longer lists."""

from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from connectors import ledger_names
from connectors.kinds.base import LedgerEntry
from connectors.models import LedgerRow
from connectors.services import ledger

pytestmark = pytest.mark.django_db


def entries(count, version="1"):
    return [LedgerEntry(f"2026/{n:06}.json", version) for n in range(count)]


def names():
    return list(LedgerRow.objects.order_by("name").values_list("name", flat=True))


def test_only_objects_read_in_this_version_are_known(connector):
    read, unread = entries(3), ledger.reader(connector)
    assert unread(read) == set(read)
    ledger.write(connector, read)
    assert unread(read) == set()
    assert unread([*read, *entries(1, version="2")]) == {LedgerEntry(read[0].name, "2")}


def test_a_page_of_a_listing_costs_as_many_queries_as_one_name(connector):
    ledger.write(connector, entries(1000))
    costs = []
    for count in (1, 1000):
        with CaptureQueriesContext(
            connection,
        ) as asked:
            assert ledger.reader(connector)(entries(count)) == set()
        costs.append(len(asked))
    assert costs[0] == costs[1]


def test_a_long_page_is_asked_in_parts(connector):
    ledger.write(connector, entries(2500))
    assert ledger.reader(connector)(entries(2501)) == {entries(2501)[-1]}


@pytest.mark.parametrize("name", ["x" * 1025, "folder/" * 600 + "a", "nul\0in it", "half \ud800 a pair"])
def test_an_object_with_an_unstorable_name_is_read_once(connector, name):
    entry, like_it = LedgerEntry(name, "1"), LedgerEntry(name + "\0", "1")
    ledger.write(connector, [entry])
    assert ledger.reader(connector)([entry, like_it]) == {like_it}


def test_names_that_differ_in_what_a_database_does_not_keep_are_two(connector):
    ledger.write(connector, [LedgerEntry("a\0", "1")])
    assert ledger.reader(connector)([LedgerEntry("a", "1")]) == {LedgerEntry("a", "1")}


def test_only_objects_that_no_listing_shows_for_long_are_forgotten(connector):
    ledger.write(connector, entries(2))
    for days in (40, 80, 120):
        with time_machine.travel(timezone.now() + timedelta(days=days), tick=False):
            assert ledger.reader(connector)(entries(1)) == set()
            ledger.forget_gone(connector)
    assert names() == [ledger_names.name_digest(connector.organization_id, entries(1)[0].name)]
