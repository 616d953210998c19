"""Alerts: owners and admins get a mail when a connector stops, falls silent or quarantines items."""

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
    """Add a member of each role, and the owner of another organization."""
    return {role: add_person(organization, role).user.email for role in MEMBER_ROLES if role != Role.OWNER}


@pytest.fixture
def stopped(organization, connector_of, feed, monkeypatch):
    """Return a connector that stopped because of too many bad items."""
    monkeypatch.setattr(polling, "MAX_QUARANTINED", 1)
    feed.add(b'{"id": "Jane Roe"}')
    connector_of(organization, name="Loans\r\nBcc: thief@example.org", config={"feed": "main"}, secret_ref="file:feed")
    services.poll_due()
    return Connector.objects.get()


def test_only_members_who_manage_connectors_get_alerts(people, stopped, mailoutbox):
    services.send_alerts()
    recipients = {event: set() for event in Alert.Event}
    for mail in mailoutbox:
        (event,) = [event for event in Alert.Event if str(event.label) in mail.subject]
        recipients[event].update(mail.to)
    able = {"owner@bank.example", people[Role.ADMIN]}
    assert recipients == {Alert.Event.STOPPED: able, Alert.Event.QUARANTINE: able, Alert.Event.SILENT: set()}
    assert services.send_alerts() == 0


def test_the_mail_names_the_event_and_a_link_but_no_settings_or_items(stopped, mailoutbox):
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


def test_a_fault_fixed_before_the_mail_is_sent_alerts_no_member(organization, stopped, mailoutbox):
    who = callers.system(organization.pk)
    services.dismiss_quarantined(caller=who, connector=stopped)
    services.request_poll(caller=who, connector=stopped)
    assert services.send_alerts() == 0
    assert mailoutbox == []
    assert not Alert.objects.filter(handled_at=None).exists()


@pytest.mark.parametrize("lost", ["role", "account"])
def test_a_member_who_lost_the_permission_gets_no_mail(organization, stopped, mailoutbox, lost):
    member = Member.objects.get(organization=organization)
    if lost == "role":
        Member.objects.filter(pk=member.pk).update(role=Role.AUDITOR)
    else:
        member.user.is_active = False
        member.user.save()
    assert services.send_alerts() == 0
    assert mailoutbox == []


def test_a_stopped_or_disabled_connector_is_not_silent(organization, connector_of, feed):
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


def test_each_event_is_mailed_once_a_day(organization, connector_of, feed, mailoutbox):
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
