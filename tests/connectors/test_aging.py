"""Retention of connector data: old rows are deleted, and reading continues unaffected."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from connectors import ledger_names
from connectors.kinds.base import LedgerEntry
from connectors.models import Connector, Dismissed, LedgerRow, PollRun, Quarantined
from connectors.services import ledger
from custody.disposal import age_sweeps

pytestmark = pytest.mark.django_db

MARK = "canary-2Xv9pL"
DAYS = 30


@pytest.fixture
def made(organization):
    """Return a function that makes a connector and its rows of some days ago, with a mark in each text."""

    def make(days: int, of=organization) -> Connector:
        at = timezone.now() - timedelta(days=days)
        connector = Connector.objects.create(
            organization=of, kind="directory", name="c", cursor={"tail": {"name": MARK}}, stopped_at=at,
            stopped_because=f"{MARK} changed while it was being read.",
        )  # fmt: skip
        Connector.objects.filter(pk=connector.pk).update(created_at=at)
        PollRun.objects.create(connector=connector, started_at=at, detail=MARK, fix=MARK)
        texts = {"position": MARK, "origin": MARK, "reason": MARK, "digest": MARK, "cursor": {"object": MARK}}
        Quarantined.objects.create(connector=connector, cause="invalid", created_at=at, **texts)
        Dismissed.objects.create(connector=connector, digest=MARK)
        Dismissed.objects.filter(connector=connector).update(dismissed_at=at)
        LedgerRow.objects.create(connector=connector, name=f"{MARK}.json", version="1", read_at=at)
        return connector

    return make


def swept(organization):
    return age_sweeps.sweep(organization.pk, timezone.now() - timedelta(days=DAYS))


def kept() -> str:
    texts = []
    with connection.cursor() as cursor:
        for model in (Connector, PollRun, Quarantined, Dismissed, LedgerRow):
            cursor.execute(f"SELECT * FROM {model._meta.db_table}")
            texts += map(str, cursor.fetchall())
    return "\n".join(texts)


def test_old_rows_are_deleted_and_the_connector_stays(organization, made):
    connector = made(DAYS + 1)
    assert MARK in kept()
    assert {count for name, count in swept(organization).items() if name != "lifted holds"} == {1}
    assert MARK not in kept()
    connector.refresh_from_db()
    assert connector.cursor == {}
    assert connector.stopped_because


def test_newer_rows_stay_except_names_in_the_ledger(organization, made):
    connector = made(DAYS - 1)
    assert {name for name, count in swept(organization).items() if count} == {"names in ledgers of connectors"}
    assert (connector.quarantine.count(), connector.dismissed.count(), connector.runs.count()) == (1, 1, 1)


def test_rows_of_another_organization_stay(organization, other_api, made):
    made(DAYS + 1, other_api.organization)
    before = kept()
    assert set(swept(organization).values()) == {0}
    assert kept() == before


def test_a_repeated_sweep_deletes_nothing(organization, made):
    made(DAYS + 1)
    swept(organization)
    assert set(swept(organization).values()) == {0}


def test_a_connector_that_is_polled_keeps_its_place(organization, made):
    connector = made(DAYS + 1)
    rows = Connector.objects.filter(pk=connector.pk)
    rows.update(stopped_at=None, stopped_because="", next_poll_at=timezone.now())
    swept(organization)
    assert rows.get().cursor == connector.cursor


def test_a_file_whose_name_became_a_digest_is_not_read_again(organization, made):
    connector = made(DAYS + 1)
    unread = ledger.reader(connector)
    entry, changed = LedgerEntry(f"{MARK}.json", "1"), LedgerEntry(f"{MARK}.json", "2")
    assert unread([entry]) == set(), "as an earlier version wrote it"
    swept(organization)
    assert unread([entry]) == set()
    assert unread([changed]) == {changed}


def test_the_ledger_has_digests_that_differ_between_organizations(organization, other_api, made):
    connector, other = made(1), made(1, other_api.organization)
    LedgerRow.objects.all().delete()
    for row_owner in (connector, other):
        ledger.write(row_owner, [LedgerEntry(f"{MARK}.json", "1")])
    assert MARK not in "".join(LedgerRow.objects.values_list("name", flat=True))
    assert LedgerRow.objects.values("name").distinct().count() == 2
    assert ledger.reader(connector)([LedgerEntry(f"{MARK}.json", "1")]) == set()


def test_a_name_stored_in_both_ways_becomes_one_row(organization, made):
    connector = made(DAYS + 1)
    ledger.write(connector, [LedgerEntry(f"{MARK}.json", "2")])
    swept(organization)
    row = LedgerRow.objects.get()
    assert (row.name, row.version) == (ledger_names.name_digest(organization.pk, f"{MARK}.json"), "2")


def test_a_quarantined_item_is_read_again_though_its_files_name_is_a_digest(organization, made):
    connector = made(1)
    swept(organization)
    ledger.forget(connector, [f"{MARK}.json"])
    assert not LedgerRow.objects.exists()
