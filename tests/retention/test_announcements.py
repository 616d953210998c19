"""Mail to owners, and to no one else, about a shorter policy and about a run that asks: one mail each."""

from datetime import timedelta

import pytest

from accounts.models import Member
from accounts.roles import MEMBER_ROLES, Role
from retention import services
from retention.models import Announcement, Policy, Run
from tests.people import add_person
from tests.retention.conftest import NOW, set_days

pytestmark = [pytest.mark.django_db, pytest.mark.once]


def asking(organization, **more):
    figures = {"policy": 1, "days": 30, "kind": "daily", "state": "asks", "candidates": 9, "started_at": NOW}
    return Run.objects.create(organization=organization, **figures | more)


def recipients(mailoutbox):
    return sorted(mail.to[0] for mail in mailoutbox)


def test_only_owners_get_one_mail_about_a_shorter_policy(organization, clock, mailoutbox):
    people = {role: add_person(organization, role).user.email for role in MEMBER_ROLES}
    set_days(organization, 30, note="Because of Jane Example.")
    assert [services.send_announcements() for _ in range(3)] == [2, 0, 0]
    assert recipients(mailoutbox) == sorted([people[Role.OWNER], "owner@bank.example"])
    for mail in mailoutbox:
        assert mail.subject == "Example Bank will keep records for 30 days"
        for text in (mail.body, str(mail.alternatives[0][0])):
            assert "From 27 Nov 2026, 12:00 UTC on" in text
            assert "/admin/retention/policy/" in text
            assert "Jane Example" not in text


def test_the_mail_names_the_earlier_and_the_shorter_period(organization, clock, mailoutbox):
    set_days(organization, 365)
    services.send_announcements()
    clock.shift(timedelta(days=7))
    set_days(organization, 30)
    services.send_announcements()
    assert "from 365 to 30 days (policy 2)" in mailoutbox[-1].body


def test_a_longer_policy_sends_no_mail(organization, clock, mailoutbox):
    set_days(organization, 30)
    services.send_announcements()
    clock.shift(timedelta(days=7))
    set_days(organization, 60)
    assert services.send_announcements() == 0


def test_a_policy_replaced_meanwhile_sends_no_mail(organization, clock, mailoutbox):
    set_days(organization, 30)
    set_days(organization, 20)
    assert services.send_announcements() == 1
    assert "20 days" in mailoutbox[0].subject


def test_the_week_begins_with_the_first_mail_that_the_server_takes(organization, clock, smtp):
    """The worker retries a refused mail."""
    add_person(organization, Role.OWNER, "second@bank.example")
    smtp.busy |= {"second@bank.example", "owner@bank.example"}
    set_days(organization, 30)
    assert services.send_announcements() == 0
    assert Policy.objects.get().announced_at is None
    smtp.busy.remove("second@bank.example")
    for _ in range(2):
        clock.shift(timedelta(minutes=3))
        services.send_announcements()
        smtp.busy.clear()
    assert smtp.recipients() == ["second@bank.example", "owner@bank.example"]
    first = Policy.objects.get()
    assert (first.announced_at, first.begins_at) == (NOW + timedelta(minutes=3), NOW + timedelta(days=7, minutes=3))


def test_owners_get_one_mail_about_a_run_that_asks(organization, mailoutbox):
    asking(organization)
    assert [services.send_announcements() for _ in range(3)] == [1, 0, 0]
    assert mailoutbox[0].subject == "Example Bank: a disposal waits for you"
    assert "would dispose of 9 decisions under policy 1 (30 days)" in mailoutbox[0].body


def test_a_run_that_no_longer_asks_sends_no_mail(organization, mailoutbox):
    run = asking(organization)
    Announcement.objects.create(run=run, member=Member.objects.get())
    Run.objects.filter(pk=run.pk).update(state="running")
    assert services.send_announcements() == 0
    assert mailoutbox == []


def test_a_former_owner_gets_no_mail(organization, mailoutbox):
    run = asking(organization)
    Announcement.objects.create(run=run, member=add_person(organization, Role.ADMIN))
    assert services.send_announcements() == 0
    assert mailoutbox == []
