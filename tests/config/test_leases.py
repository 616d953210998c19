"""Leases: one worker at a time holds a row, and a worker that lost its lease changes nothing."""

from datetime import timedelta
from itertools import pairwise

import pytest
import time_machine
from django.db import transaction
from django.utils import timezone

from accounts.models import OneTimeCode
from config import leases
from config.leases import LeaseLost
from tests.threads import at_once

MINUTE = timedelta(minutes=1)
pytestmark = pytest.mark.django_db


def waiting():
    return OneTimeCode.objects.filter(handled_at=None)


def make(count=1):
    later = timezone.now() + timedelta(days=1)
    return [
        OneTimeCode.objects.create(email=f"{number}@bank.example", intent="sign_in", client="", expires_at=later)
        for number in range(count)
    ]


def claim(limit=1):
    return leases.claim(waiting(), lasts=MINUTE, limit=limit)


def stored(row):
    return OneTimeCode.objects.get(pk=row.pk)


def after(wait):
    return time_machine.travel(timezone.now() + wait, tick=False)


def test_a_held_row_is_not_claimed_again():
    make(2)
    first, second = claim(), claim()
    assert len({first[0].pk, second[0].pk}) == 2
    assert claim() == []


def test_a_claim_takes_the_oldest_rows_up_to_its_limit():
    rows = make(5)
    assert [row.pk for row in claim(limit=3)] == [row.pk for row in rows[:3]]


def test_a_row_is_claimed_again_after_its_lease_expires():
    make()
    claim()
    with after(MINUTE + timedelta(seconds=1)):
        assert len(claim()) == 1


def test_a_lost_lease_cannot_be_completed_failed_or_renewed():
    make()
    (slow,) = claim()
    with after(2 * MINUTE):
        (quick,) = claim()
        before = stored(slow)
        for act in (leases.complete, leases.fail, lambda row: leases.renew(row, lasts=MINUTE, digest="x")):
            with pytest.raises(LeaseLost):
                act(slow)
        assert stored(slow).__dict__.items() >= {"lease_token": before.lease_token, "digest": ""}.items()
        leases.complete(quick, handled_at=timezone.now())
    assert stored(slow).handled_at


def test_rows_claimed_by_another_worker_or_completed_have_changed():
    make(3)
    rows = claim(limit=3)
    with after(2 * MINUTE):
        claim()
    leases.complete(rows[1], handled_at=timezone.now())
    with transaction.atomic():
        assert list(leases.unchanged(rows)) == [rows[2]]


def test_free_rows_are_unchanged_until_a_worker_claims_them():
    rows = make(2)
    claim()
    with transaction.atomic():
        assert list(leases.unchanged(rows)) == [rows[1]]


def test_a_completion_is_rolled_back_with_its_transaction():
    make()
    (row,) = claim()
    with transaction.atomic():
        leases.complete(row, handled_at=timezone.now())
        transaction.set_rollback(True)
    assert stored(row).handled_at is None
    assert stored(row).lease_token == row.lease_token


def test_a_completed_row_cannot_be_completed_again():
    make()
    (row,) = claim()
    leases.complete(row, handled_at=timezone.now())
    with pytest.raises(LeaseLost):
        leases.complete(row, handled_at=None)
    assert stored(row).handled_at


def test_a_row_without_a_lease_cannot_be_completed():
    (row,) = make()
    with pytest.raises(LeaseLost):
        leases.complete(row, handled_at=timezone.now())


def test_a_renewed_lease_starts_at_its_renewal():
    make()
    (row,) = claim()
    with after(timedelta(seconds=50)):
        leases.renew(row, lasts=MINUTE)
    with after(timedelta(seconds=100)):
        assert claim() == []


def test_the_pause_grows_with_each_failure_up_to_an_hour():
    make()
    pauses = []
    for _ in range(10):
        (row,) = claim()
        leases.fail(row)
        pauses.append(stored(row).next_try_at - timezone.now())
        assert claim() == []
        OneTimeCode.objects.update(next_try_at=None)
    assert timedelta(seconds=44) < pauses[0] <= MINUTE
    assert all(shorter < longer for shorter, longer in pairwise(pauses[:6]))
    assert max(pauses) <= timedelta(hours=1)
    assert min(pauses[7:]) > timedelta(minutes=44)


def test_a_worker_may_limit_its_pause():
    make()
    for _ in range(5):
        (row,) = claim()
        leases.fail(row, longest=2 * MINUTE)
        assert stored(row).next_try_at - timezone.now() <= 2 * MINUTE
        OneTimeCode.objects.update(next_try_at=None)


def test_a_failed_row_is_claimed_after_its_pause_and_a_success_resets_its_failures():
    make()
    (row,) = claim()
    leases.fail(row)
    with after(MINUTE + timedelta(seconds=1)):
        (row,) = claim()
        assert row.attempts == 2
        leases.complete(row)
    assert (stored(row).attempts, stored(row).next_try_at) == (0, None)


def test_workers_that_claim_at_once_share_the_rows_without_a_duplicate(shared_database):
    make(40)
    claimed = at_once(8, lambda _: [row.pk for _ in range(5) for row in claim()])
    pks = [pk for batch in claimed for pk in batch]
    assert len(pks) == len(set(pks))
    assert OneTimeCode.objects.exclude(lease_token=None).count() == len(pks)
