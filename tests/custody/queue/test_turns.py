"""Waiting objects are claimed by age, with a turn for each organization, at a cost that no backlog raises."""

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from config import leases
from custody import key_outages, tasks
from custody.keys import Purpose
from custody.models import Entry, Key, WaitingObject
from custody.services import reconcile, turns
from custody.services.turns import Turns
from tests.rows_read import rows_read

pytestmark = pytest.mark.django_db

BATCH = 50


def queue(organization, count, *, state=Entry.State.QUEUED, **columns):
    """Let so many objects wait, each a second younger than the one before, under ids that say nothing of it."""
    begun = timezone.now() - timedelta(days=1)
    entries = [
        Entry(
            record_id=uuid.uuid4(), organization=organization, kind="decision", target_id="database", state=state,
            received_at=begun + timedelta(seconds=number), statement=b"", signature=b"", key_id="",
        )
        for number in range(count)
    ]  # fmt: skip
    Entry.objects.bulk_create(entries)
    WaitingObject.objects.bulk_create(
        WaitingObject(record=row, organization=organization, queued_at=row.received_at, body=b"", **columns)
        for row in entries
    )
    return [row.pk for row in entries]


def owners(batch):
    return [row.organization_id for row in batch]


def test_the_oldest_are_claimed_first_whatever_their_ids(organization):
    ids = queue(organization, 70)
    line = Turns()
    assert [row.pk for row in line.claim(BATCH)] == ids[:50]
    assert [row.pk for row in line.claim(BATCH)] == ids[50:]
    assert line.claim(BATCH) == []


def test_what_is_held_or_pauses_is_claimed_once_its_time_has_come(organization):
    now = timezone.now()
    queue(organization, 5, next_try_at=now + timedelta(minutes=1))
    queue(organization, 5, lease_token=uuid.uuid4(), lease_until=now + timedelta(minutes=1))
    assert Turns().claim(BATCH) == []
    due = queue(organization, 2, next_try_at=now - timedelta(minutes=1))
    lost = queue(organization, 2, lease_token=uuid.uuid4(), lease_until=now - timedelta(minutes=2))
    assert {row.pk for row in Turns().claim(BATCH)} == {*due, *lost}


def test_a_backlog_takes_one_batch_before_another_organizations_first_record(organization, other_api):
    queue(organization, 300)
    line = Turns()
    line.claim(BATCH)
    queue(other_api.organization, 1)
    line = Turns()
    batch = line.claim(BATCH)
    assert other_api.organization.pk in owners(batch)
    assert owners(batch).count(organization.pk) == BATCH // 2


def test_more_organizations_than_a_batch_holds_each_have_their_turn_in_a_round(organization, other_api, monkeypatch):
    monkeypatch.setattr(turns, "_MIN_SHARE", 1)
    for each_one in (organization, other_api.organization):
        queue(each_one, 3)
    line = Turns()
    claimed = [owners(line.claim(1))[0] for _ in range(6)]
    assert claimed == [organization.pk, other_api.organization.pk] * 3 or claimed == [
        other_api.organization.pk, organization.pk,
    ] * 3  # fmt: skip


def test_while_a_signing_key_is_left_alone_what_is_signed_goes_on(queueing):
    queue(queueing, 60)
    signed = queue(queueing, 3, state=Entry.State.RESERVED)
    key = Key.objects.get(organization=queueing, purpose=Purpose.SIGNING, retired_at=None)
    key_outages.note(key.pk, "away")
    assert {row.pk for row in Turns().claim(BATCH)} == set(signed)


def test_a_claim_reads_no_more_rows_of_a_greater_backlog(organization, other_api):
    """Ready ones, paused ones and those of others are all looked past by the index."""

    def read(more):
        later = timezone.now() + timedelta(hours=1)
        queue(organization, more)
        queue(organization, more, next_try_at=later)
        queue(other_api.organization, more, next_try_at=later)
        return rows_read(lambda: Turns().claim(BATCH))

    small = read(100)
    assert read(2000) <= 2 * small


# ── slices ──


def test_no_batch_begins_when_the_slice_is_over(organization):
    queue(organization, 3)
    assert reconcile(seconds=0) == (0, 0)
    assert not WaitingObject.objects.exclude(lease_until=None).exists()


def test_a_slice_that_ends_before_the_backlog_asks_for_the_next(api, queueing, monkeypatch):
    asked = []
    monkeypatch.setattr(tasks, "wake", asked.append)
    api.ingest({"decision_id": "a"})
    tasks.reconcile()
    assert asked == [], "the backlog is done"
    monkeypatch.setattr(tasks, "_SECONDS", 0)
    monkeypatch.setattr(tasks.services, "reconcile", lambda seconds: (1, 0))
    tasks.reconcile()
    assert asked == ["custody.tasks.reconcile"]


def test_claims_hold_their_rows_under_leases(organization):
    (pk,) = queue(organization, 1)
    (row,) = Turns().claim(BATCH)
    assert Turns().claim(BATCH) == []
    leases.fail(row)
    assert WaitingObject.objects.get(pk=pk).next_try_at > timezone.now()
