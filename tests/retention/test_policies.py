"""Versions of the policy are numbered and never change. A shorter one begins a week after the mail to owners, any other
at once, and no request disposes of anything."""

from datetime import timedelta
from itertools import count

import pytest
import time_machine
from django.db import IntegrityError, transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts import audit, callers, selectors
from accounts import services as accounts
from accounts.models import AuditEvent, Member
from config.errors import NotAllowed
from retention import rules, services
from retention.models import Policy, Run
from tests.retention.conftest import NOW, set_days

pytestmark = pytest.mark.django_db

WEEK = timedelta(days=7)


def in_force(organization, *, daily=True):
    policy = rules.policy_in_force(organization.pk, daily=daily)
    return policy and policy.days


def send_mails(organization):
    services.send_announcements()


# ── versions ──


def test_versions_are_numbered_from_one_in_each_organization(organization, other_api):
    assert [set_days(organization, days).number for days in (30, 60, 30)] == [1, 2, 3]
    assert set_days(other_api.organization, 30).number == 1


def test_an_equal_policy_makes_no_version(organization):
    first = set_days(organization, 30, note="By our schedule.", share_percent=7)
    assert set_days(organization, 30, note="By our schedule.", share_percent=7) == first
    assert set_days(organization, 30, note="By our schedule.") == first, "the share stays as it was"
    others = [{"days": 31}, {"days": 31, "note": "x"}, {"days": 31, "note": "x", "share_percent": 8}]
    assert [set_days(organization, **change).number for change in others] == [2, 3, 4]


def test_a_replaced_version_can_be_set_again(organization):
    assert [set_days(organization, days).number for days in (30, 60, 30)] == [1, 2, 3]


@pytest.mark.parametrize(
    "wrong",
    [
        {"days": 0}, {"days": 36_501}, {"share_percent": 0}, {"share_percent": 101}, {"number": 0},
        {"begins_at": None}, {"shortens": True}, {"announced_at": NOW},
        {"shortens": True, "announced_at": NOW, "begins_at": None},
        {"shortens": True, "announced_at": NOW, "begins_at": NOW},
    ],
)  # fmt: skip
def test_the_database_refuses_an_impossible_policy(organization, wrong):
    right = {
        "number": 1, "days": 30, "share_percent": 5, "shortens": False, "announced_at": None, "begins_at": NOW,
        "created_at": NOW,
    }  # fmt: skip
    with pytest.raises(IntegrityError), transaction.atomic():
        Policy.objects.create(organization=organization, **right | wrong)
    Policy.objects.create(organization=organization, **right)
    with pytest.raises(IntegrityError), transaction.atomic():
        Policy.objects.create(organization=organization, **right)


@pytest.mark.once
def test_the_audit_event_of_a_policy_names_its_owner_but_not_its_note(organization):
    set_days(organization, 30, note="Because of Jane Example.")
    event = AuditEvent.objects.get(verb="retention.set")
    assert (event.object_kind, event.object_id, event.actor_id) == ("retention_policy", "1", "command-line")
    assert event.detail == {"days": 30, "share_percent": 5, "shortens": True}


@pytest.mark.once
def test_only_an_owner_sets_the_policy(organization):
    admin = accounts.add_member(caller=callers.system(organization.pk), email="a@bank.example", role="admin")
    with pytest.raises(NotAllowed):
        services.set_policy(caller=selectors.caller(admin), days=30, note="")
    assert not Policy.objects.exists()


# ── the days in force ──


@pytest.mark.once
def test_without_a_policy_nothing_is_disposed_of(organization):
    assert in_force(organization) is in_force(organization, daily=False) is None


@pytest.mark.once
def test_the_first_policy_begins_a_week_after_the_mail(organization, clock):
    set_days(organization, 30)
    assert (in_force(organization), in_force(organization, daily=False)) == (None, 30)
    clock.shift(timedelta(days=30))
    assert in_force(organization) is None, "no mail went out"
    send_mails(organization)
    clock.shift(WEEK - timedelta(seconds=1))
    assert in_force(organization) is None
    clock.shift(timedelta(seconds=1))
    assert in_force(organization) == 30


@pytest.fixture
def at_hundred(organization, clock):
    """A policy of a hundred days that has begun."""
    set_days(organization, 100)
    send_mails(organization)
    clock.shift(WEEK)
    assert in_force(organization) == 100
    return organization


@pytest.mark.once
def test_lengthening_counts_at_once(at_hundred):
    set_days(at_hundred, 200)
    assert in_force(at_hundred) == 200


@pytest.mark.once
def test_shortening_waits_and_the_command_uses_it_at_once(at_hundred, clock):
    set_days(at_hundred, 50)
    send_mails(at_hundred)
    assert (in_force(at_hundred), in_force(at_hundred, daily=False)) == (100, 50)
    clock.shift(WEEK)
    assert in_force(at_hundred) == 50


@pytest.mark.once
def test_a_version_longer_than_a_waiting_one_but_shorter_than_the_one_in_force_waits(at_hundred, clock):
    set_days(at_hundred, 50)
    send_mails(at_hundred)
    set_days(at_hundred, 60)
    assert in_force(at_hundred) == 100


@pytest.mark.once
def test_a_version_replaced_before_it_began_never_begins(organization, clock):
    """Otherwise it would begin, and every later, longer version would count at once."""
    set_days(organization, 1)
    send_mails(organization)
    set_days(organization, 3650)
    clock.shift(WEEK)
    assert in_force(organization) is None
    set_days(organization, 365)
    assert in_force(organization) is None, "owners got no mail about 365 days yet"


@pytest.mark.once
def test_a_clock_that_goes_back_starts_no_shorter_period(at_hundred, clock):
    """A version that was set a moment before another had begun already."""
    set_days(at_hundred, 1000)
    clock.shift(-60)
    set_days(at_hundred, 900)
    clock.shift(120)
    assert in_force(at_hundred) == 1000


@pytest.mark.once
def test_reverting_a_shorter_period_counts_at_once(at_hundred, clock):
    set_days(at_hundred, 50)
    send_mails(at_hundred)
    set_days(at_hundred, 100)
    clock.shift(WEEK)
    assert in_force(at_hundred) == 100


steps = st.lists(
    st.one_of(
        st.tuples(st.just("set"), st.sampled_from([1, 10, 20, 30, 36_500])),
        st.tuples(st.just("wait"), st.sampled_from([1, 3, 7, 8])),
        st.tuples(st.just("mail"), st.just(0)),
    ),
    max_size=12,
)
numbers = count()


@pytest.mark.once
@given(steps)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_in_any_order_a_shorter_period_begins_only_after_the_week(db, steps):
    name = f"Bank {next(numbers)}"
    organization = accounts.create_organization(name=name, owner_email="o@bank.example", actor=audit.SYSTEM)
    after = None
    with time_machine.travel(NOW, tick=False) as clock:
        for step, value in steps:
            before = after
            if step == "set":
                newest = set_days(organization, value)
                if before is not None and value >= before:
                    assert in_force(organization) == value, "lengthening counts at once"
                else:
                    assert in_force(organization) == before, "shortening changes nothing yet"
                assert in_force(organization, daily=False) == newest.days == value
            elif step == "wait":
                clock.shift(timedelta(days=value))
            else:
                send_mails(organization)
            newest, after = rules.newest(organization.pk), in_force(organization)
            had_a_week = bool(newest and newest.announced_at and newest.announced_at + WEEK <= timezone.now())
            if after is not None and (before is None or after < before):
                assert (step, had_a_week, after) == ("wait", True, newest.days)
            if had_a_week:
                assert after == newest.days, "after the week it is in force"
            assert after is None or after >= newest.days


# ── runs that ask ──


def test_a_new_version_stops_a_run_that_asks_under_the_old_one(at_hundred):
    run = Run.objects.create(
        organization=at_hundred, policy=1, days=100, kind="daily", state="asks", candidates=9, started_at=NOW
    )
    set_days(at_hundred, 100)
    run.refresh_from_db()
    assert run.state == "asks"
    set_days(at_hundred, 200)
    run.refresh_from_db()
    assert run.state == "stopped"
    assert run.finished_at


@pytest.mark.once
def test_owners_at_the_time_of_the_mail_get_it(organization, clock, mailoutbox):
    set_days(organization, 30)
    Member.objects.filter(organization=organization).delete()
    send_mails(organization)
    assert mailoutbox == []
    accounts.add_member(caller=callers.system(organization.pk), email="new@bank.example", role="owner")
    send_mails(organization)
    assert [mail.to for mail in mailoutbox] == [["new@bank.example"]]
    assert Policy.objects.get().announced_at == NOW
