"""Waiting objects are claimed by age, with a turn for each organization, at a cost independent of the backlog."""

import uuid
from collections import defaultdict
from datetime import timedelta
from types import SimpleNamespace

import pytest
import time_machine
from django.utils import timezone

from accounts.models import Organization
from config import leases, rests
from custody import services, tasks
from custody.keys import outages
from custody.keys.keyrings import Purpose
from custody.models import Entry, Key, WaitingObject
from custody.services import reconcile, turns
from custody.services.turns import Turns
from tests.rows_read import rows_read

pytestmark = pytest.mark.django_db

BATCH = 50


def queue(organization, count, *, state=Entry.State.QUEUED, **columns):
    """Let so many objects wait, each a second younger than the one before, under random ids."""
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


def test_a_leased_or_paused_object_is_claimed_after_its_lease_or_pause(organization):
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
    for owner in (organization, other_api.organization):
        queue(owner, 3)
    line = Turns()
    claimed = [owners(line.claim(1))[0] for _ in range(6)]
    assert claimed == [organization.pk, other_api.organization.pk] * 3 or claimed == [
        other_api.organization.pk, organization.pk,
    ] * 3  # fmt: skip


def test_while_a_signing_key_is_paused_signed_objects_are_claimed(queueing):
    queue(queueing, 60)
    signed = queue(queueing, 3, state=Entry.State.RESERVED)
    key = Key.objects.get(organization=queueing, purpose=Purpose.SIGNING, retired_at=None)
    outages.note(key.pk, "away")
    assert {row.pk for row in Turns().claim(BATCH)} == set(signed)


def test_a_claim_reads_no_more_rows_of_a_greater_backlog(organization, other_api):
    """The index skips ready rows, paused ones and those of other organizations."""

    def read(more):
        later = timezone.now() + timedelta(hours=1)
        queue(organization, more)
        queue(organization, more, next_try_at=later)
        queue(other_api.organization, more, next_try_at=later)
        return rows_read(lambda: Turns().claim(BATCH))

    small = read(100)
    assert read(2000) <= 2 * small


# ── slow organizations ──


class _Simulated:
    """Turns of organizations with endless backlogs, on a clock that moves by what each batch costs."""

    def __init__(self, monkeypatch, *organizations):
        self.now = 1000.0
        ids = [organization.pk for organization in organizations]
        for module in (rests, turns):
            monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(turns, "_due_organizations", lambda: ids)
        monkeypatch.setattr(Turns, "_claim_of", lambda _, pk, limit: [WaitingObject(organization_id=pk)] * limit)

    def run(self, seconds, cost):
        """Return the time that each organization's batches took, with None for batches of several."""
        spent, ends = defaultdict(float), self.now + seconds
        while self.now < ends:
            line, slice_ends = Turns(), self.now + 5
            while self.now < slice_ends:
                batch = line.claim(BATCH)
                owners_of_it = set(owners(batch))
                took = cost(owners_of_it)
                self.now += took
                line.note_seconds(batch, took)
                spent[owners_of_it.pop() if len(owners_of_it) == 1 else None] += took
        return spent


@pytest.mark.parametrize("count", [1, 3])
def test_slow_organizations_leave_a_fast_one_most_of_the_time_and_get_a_part(
    organization, other_api, monkeypatch, count
):
    slow = [organization, *(Organization.objects.create(name=f"Slow {n}", slug=f"slow-{n}") for n in range(1, count))]
    fast = other_api.organization
    line = _Simulated(monkeypatch, *slow, fast)

    def cost(batch):
        return 0.8 if batch == {fast.pk} else 5.5

    spent = line.run(400, cost)
    assert spent[fast.pk] > 0.8 * sum(spent.values())
    assert all(spent[owner.pk] for owner in slow)
    line.run(200, lambda batch: 0.8)
    assert max(line.run(100, lambda batch: 0.8), key=str) is None, "those that became fast share batches again"


def test_an_organization_that_is_slow_only_beside_others_costs_them_little(organization, other_api, monkeypatch):
    fast = other_api.organization
    line = _Simulated(monkeypatch, organization, fast)
    spent = line.run(300, lambda batch: 0.8 if len(batch) == 1 else 5.5)
    assert spent[None] < 0.1 * sum(spent.values())
    assert spent[fast.pk] == pytest.approx(spent[organization.pk], rel=0.1)


def test_a_slow_organization_without_neighbours_gets_larger_batches_as_it_gets_faster(organization, monkeypatch):
    line = _Simulated(monkeypatch, organization)
    assert line.run(11, lambda batch: 5.5) == {organization.pk: 11}
    sizes = []
    for _ in range(4):
        batch = Turns().claim(BATCH)
        Turns().note_seconds(batch, 0.1)
        sizes.append(len(batch))
    assert sizes == [8, 16, 32, BATCH]


# ── clocks ──


def test_a_clock_that_is_ahead_or_behind_delays_neither_its_objects_nor_others(organization, other_api):
    hour = timedelta(hours=1)
    (ahead,) = queue(organization, 1)
    WaitingObject.objects.update(queued_at=timezone.now() + hour)
    queue(organization, 200)
    (other,) = queue(other_api.organization, 1)
    WaitingObject.objects.filter(pk=other).update(queued_at=timezone.now() + hour)
    assert {ahead, other} <= {row.pk for row in Turns().claim(BATCH)}, "of web machines that are ahead"
    with time_machine.travel(timezone.now() - 48 * hour, tick=False):
        assert len(Turns().claim(BATCH)) >= BATCH // 2, "by a worker that is behind"


def test_a_worker_whose_clock_is_ahead_pauses_a_signing_key_for_itself_only(queueing):
    queue(queueing, 1)
    key = Key.objects.get(organization=queueing, purpose=Purpose.SIGNING, retired_at=None)
    with time_machine.travel(timezone.now() + timedelta(hours=1), tick=False):
        outages.note(key.pk, "away")
        assert Turns().claim(BATCH) == []
    assert len(Turns().claim(BATCH)) == 1


def test_rounds_continue_after_the_last_slice_whatever_the_age_of_backlogs(organization, other_api, monkeypatch):
    monkeypatch.setattr(turns, "_MIN_SHARE", 1)
    queue(organization, 10)
    queue(other_api.organization, 1)
    WaitingObject.objects.for_organization(other_api.organization).update(queued_at=timezone.now())
    assert {owners(Turns().claim(1))[0] for _ in range(2)} == {organization.pk, other_api.organization.pk}


def test_leases_and_pauses_that_a_wrong_clock_set_are_shortened_and_stay_with_their_holder(organization):
    now = timezone.now()
    right = queue(organization, 2, next_try_at=now + timedelta(minutes=9))
    with time_machine.travel(now + timedelta(days=1), tick=False):
        paused, held = queue(organization, 2)
        leases.fail(Turns().claim(1)[0])
        (holder,) = Turns().claim(1)
    assert services.shorten_distant_leases() == 2
    assert [row.pk for row in Turns().claim(BATCH)] == [paused]
    leases.renew(holder, lasts=timedelta(minutes=1))
    WaitingObject.objects.exclude(pk__in=right).update(lease_until=now - timedelta(minutes=1))
    assert {row.pk for row in Turns().claim(BATCH)} == {paused, held}


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
    monkeypatch.setattr(tasks, "SLICE_SECONDS", 0)
    monkeypatch.setattr(tasks.services, "reconcile", lambda seconds: (1, 0))
    tasks.reconcile()
    assert asked == ["custody.tasks.reconcile"]


def test_claims_hold_their_rows_under_leases(organization):
    (pk,) = queue(organization, 1)
    (row,) = Turns().claim(BATCH)
    assert Turns().claim(BATCH) == []
    leases.fail(row)
    assert WaitingObject.objects.get(pk=pk).next_try_at > timezone.now()
