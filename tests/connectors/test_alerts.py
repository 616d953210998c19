"""Owners and admins are told by mail when a connector stops, falls silent or its quarantine grows; nobody else is."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts import callers
from accounts.models import Member
from accounts.roles import MEMBER_ROLES, Role
from connectors import services
from connectors.models import Alert, Connector
from connectors.services import polling
from tests.people import add_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def people(organization, other_api):
    """One of each role here, besides the owner that there is; and the owner of another organization."""
    return {role: add_person(organization, role).user.email for role in MEMBER_ROLES if role != Role.OWNER}


@pytest.fixture
def stopped(organization, connector_of, feed, monkeypatch):
    """A connector that has stopped, because too many of its items are bad."""
    monkeypatch.setattr(polling, "MAX_QUARANTINED", 1)
    feed.add(b'{"id": "Jane Roe"}')
    connector_of(organization, name="Loans\r\nBcc: thief@example.org", config={"feed": "main"}, secret_ref="file:feed")
    services.poll_due()
    return Connector.objects.get()


def test_whoever_manages_connectors_is_told_and_nobody_else(people, stopped, mailoutbox):
    services.send_alerts()
    told = {event: set() for event in Alert.Event}
    for mail in mailoutbox:
        (event,) = [event for event in Alert.Event if event.label in mail.subject]
        told[event].update(mail.to)
    able = {"owner@bank.example", people[Role.ADMIN]}
    assert told == {Alert.Event.STOPPED: able, Alert.Event.QUARANTINE: able, Alert.Event.SILENT: set()}
    assert services.send_alerts() == 0


def test_the_mail_says_what_happened_and_where_to_look_and_nothing_of_settings_or_items(stopped, mailoutbox):
    services.send_alerts()
    (mail,) = [mail for mail in mailoutbox if "stopped" in mail.subject]
    assert mail.subject == "The connector Loans Bcc: thief@example.org stopped"
    assert mail.to == ["owner@bank.example"]
    html = str(mail.alternatives[0][0])
    for text in (mail.body, html):
        assert stopped.stopped_because in text
        assert f"/admin/connectors/connector/{stopped.pk}/change/" in text
        assert "Example Bank" in text
        for private in ("Jane", "file:feed"):
            assert private not in text, private


def test_what_is_mended_before_the_mail_goes_out_is_told_to_nobody(organization, stopped, mailoutbox):
    who = callers.system(organization.pk)
    services.dismiss_quarantined(caller=who, connector=stopped)
    services.request_poll(caller=who, connector=stopped)
    assert services.send_alerts() == 0
    assert mailoutbox == []
    assert not Alert.objects.filter(handled_at=None).exists()


@pytest.mark.parametrize("lost", ["role", "account"])
def test_who_may_no_longer_manage_connectors_gets_no_mail(organization, stopped, mailoutbox, lost):
    member = Member.objects.get(organization=organization)
    if lost == "role":
        Member.objects.filter(pk=member.pk).update(role=Role.AUDITOR)
    else:
        member.user.is_active = False
        member.user.save()
    assert services.send_alerts() == 0
    assert mailoutbox == []


def test_a_connector_that_stopped_or_is_disabled_is_not_said_to_be_silent(organization, connector_of, feed):
    feed.add({"decision_id": "loan-1"})
    for name in ("runs", "stopped", "disabled"):
        connector_of(organization, name=name)
    services.poll_due()
    Connector.objects.filter(name="runs").update(silent_at=timezone.now() + timedelta(days=1))
    Connector.objects.filter(name="stopped").update(
        stopped_at=timezone.now(), stopped_because="Locked.", next_poll_at=None, silent_at=timezone.now()
    )
    Connector.objects.filter(name="disabled").update(enabled=False, next_poll_at=None, silent_at=timezone.now())
    assert services.note_silence() == 0
    with time_machine.travel(timezone.now() + timedelta(days=2), tick=False):
        assert services.note_silence() == 1
    assert {alert.connector.name for alert in Alert.objects.filter(event="silent")} == {"runs"}


def test_each_event_is_told_once_a_day(organization, connector_of, feed, mailoutbox):
    feed.add(b"bad")
    connector_of(organization)
    now = timezone.now().replace(hour=12)
    for hours, bad, mails in ((0, b"bad", 1), (1, b"worse", 1), (30, b"worst", 2)):
        with time_machine.travel(now + timedelta(hours=hours), tick=False):
            feed.add(bad)
            Connector.objects.update(next_poll_at=timezone.now())
            services.poll_due()
            services.send_alerts()
        assert len(mailoutbox) == mails, bad
    assert "could not become a record" in mailoutbox[0].body
