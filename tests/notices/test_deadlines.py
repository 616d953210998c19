"""Deadlines in the API, lists of late and soon-due notices, and their reminder mails."""

from collections.abc import Iterator

import pytest
import time_machine

from accounts.models import Member, User
from accounts.roles import Role
from notices import tasks
from notices.models import Reminder
from tests.cases import each_case
from tests.notices.conftest import RECORD, approve, done, drafted, edit, fill_in_names, send, shown, step
from tests.people import add_person

pytestmark = pytest.mark.django_db

COMPLETED = {**RECORD, "events": {"application": {"completed_at": "2026-11-01T09:00:00Z", "loan_to_value": 0.92}}}
WRITTEN, AT_RISK, DUE, LATE = "2026-11-03T12:00Z", "2026-11-25T12:00Z", "2026-12-01T23:59:59Z", "2026-12-02T00:00Z"


@pytest.fixture
def due(api) -> Iterator[dict]:
    """Return a draft under a law that gives 30 days from 1 November."""
    with time_machine.travel(WRITTEN):
        fill_in_names(api, "us_ecoa_fcra")
        done(api.ingest(COMPLETED))
        yield drafted(api, recipient={"name": "A. Person", "reference": "application 7"})


def listed(api, due: str) -> list[str]:
    return [row["notice_id"] for row in done(api.get("/v1/notices", due=due))["items"]]


# ── deadlines in the API ──


@pytest.mark.once
def test_a_deadline_names_its_law_and_its_calculation(due):
    deadline = due["deadline"]
    assert (due["due_at"], deadline["due_at"]) == ("2026-12-01T23:59:59.000000Z",) * 2
    assert deadline["pack"] == "us_ecoa_fcra"
    assert deadline["citation"].startswith("12 CFR 1002.9(a)(1)(i)")
    assert deadline["arithmetic"].startswith("30 days after November 1, 2026")
    assert due["deadlines"] == [deadline]


@pytest.mark.once
def test_a_policy_without_clocks_sets_no_deadline(notice):
    assert (notice["deadline"], notice["deadlines"], notice["due_at"]) == (None, [], None)


@pytest.mark.once
def test_a_new_version_is_due_when_the_old_one_was(api, due):
    made = done(step(api, done(approve(api, due)), "versions"))
    assert made["due_at"] == due["due_at"]


# ── late and at risk ──


@each_case(
    ("now", "at_risk", "overdue"),
    [
        (WRITTEN, False, False),
        ("2026-11-24T23:59:58Z", False, False),
        ("2026-11-24T23:59:59Z", True, False),
        (DUE, True, False),
        (LATE, False, True),
    ],
)
def test_a_notice_is_at_risk_for_seven_days_and_late_afterwards(api, due, now, at_risk, overdue):
    with time_machine.travel(now, tick=False):
        assert (listed(api, "at_risk") != [], listed(api, "overdue") != []) == (at_risk, overdue)


def test_the_organization_sets_how_many_days_are_at_risk(api, due):
    send(api, "PUT", "notice-settings", {"at_risk_days": 0})
    with time_machine.travel(AT_RISK):
        assert listed(api, "at_risk") == []
    send(api, "PUT", "notice-settings", {"at_risk_days": 365})
    assert listed(api, "at_risk") == [due["notice_id"]]


def test_an_approved_notice_is_late_until_it_is_delivered(api, due):
    done(approve(api, due))
    with time_machine.travel(LATE):
        assert listed(api, "overdue") == [due["notice_id"]]
        done(step(api, due, "deliveries", {"channel": "hand"}))
        assert listed(api, "overdue") == []


@pytest.mark.once
def test_a_withdrawn_notice_is_not_late(api, due):
    step(api, due, "withdraw")
    with time_machine.travel(LATE):
        assert listed(api, "overdue") == []


# ── sent in time ──


def sent_in_time(api, notice) -> str:
    return next(item["result"] for item in shown(api, notice)["elements"] if item["id"] == "sent_in_time")


@pytest.mark.once
def test_whether_it_was_sent_in_time_is_open_until_it_is_delivered(api, due):
    assert sent_in_time(api, due) == "check"
    done(approve(api, due))
    assert sent_in_time(api, due) == "check"
    delivery = done(step(api, due, "deliveries", {"channel": "hand"}))
    with time_machine.travel(LATE):
        assert sent_in_time(api, due) == "present"
        step(api, due, f"deliveries/{delivery['delivery_id']}/return", {"reason": "Unknown there."})
        assert sent_in_time(api, due) == "missing"


@pytest.mark.once
def test_a_late_notice_can_still_be_approved(api, due):
    """A late letter breaks the law less than no letter."""
    with time_machine.travel(LATE):
        assert sent_in_time(api, due) == "missing"
        (late,) = shown(api, due)["warnings"]
        assert late["where"] == "deadline_note"
        assert "too late" in late["sentence"]
        assert done(approve(api, due, acknowledge=[late["id"]]))["state"] == "approved"
        done(step(api, due, "deliveries", {"channel": "hand"}))
        assert sent_in_time(api, due) == "missing"


# ── reminders ──


@pytest.fixture
def people(organization) -> list[str]:
    """Add members of every role and one without sign-in. Return the addresses that get reminders."""
    add_person(organization, Role.AUDITOR)
    gone = add_person(organization, Role.EDITOR, "gone@bank.example")
    User.objects.filter(pk=gone.user_id).update(is_active=False)
    able = [add_person(organization, role).user.email for role in (Role.ADMIN, Role.APPROVER, Role.EDITOR)]
    return sorted(["owner@bank.example", *able])


def recipients(mailoutbox) -> list[str]:
    return sorted(message.to[0] for message in mailoutbox)


@pytest.mark.parametrize("now", [AT_RISK, LATE])
def test_members_who_can_act_are_reminded_once_a_day(due, people, mailoutbox, now):
    with time_machine.travel(now) as clock:
        for _ in range(3):
            tasks.remind()
        assert recipients(mailoutbox) == people
        clock.shift(24 * 3600)
        tasks.remind()
        assert recipients(mailoutbox) == sorted(people * 2)


@pytest.mark.once
def test_without_a_due_notice_no_reminder_is_sent(api, other_api, due, people, mailoutbox):
    tasks.remind()
    assert mailoutbox == []
    step(api, due, "withdraw")
    with time_machine.travel(LATE):
        tasks.remind()
    assert mailoutbox == []


@pytest.mark.once
def test_another_organization_is_not_reminded(other_api, due, people, mailoutbox):
    with time_machine.travel(LATE):
        tasks.remind()
    assert "owner@other.example" not in recipients(mailoutbox)


@pytest.mark.once
def test_a_reminder_names_notices_and_no_person(due, mailoutbox, settings):
    with time_machine.travel(AT_RISK):
        tasks.remind()
    (message,) = mailoutbox
    mail = "\n".join([message.subject, message.body, *(part.content for part in message.alternatives)])
    assert due["notice_id"] in mail
    assert settings.BASE_URL in mail
    for private in ("A. Person", "application 7", due["content"]["title"], "denied"):
        assert private not in mail


def test_a_reminder_that_waited_until_all_was_done_is_not_sent(api, due, mailoutbox, settings):
    backend, settings.EMAIL_BACKEND = settings.EMAIL_BACKEND, "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    with time_machine.travel(AT_RISK) as clock:
        tasks.remind()
        assert Reminder.objects.get().handled_at is None
        settings.EMAIL_BACKEND = backend
        step(api, due, "withdraw")
        clock.shift(61)
        tasks.remind()
    assert mailoutbox == []
    assert Reminder.objects.get().handled_at


@pytest.mark.once
def test_a_member_who_left_gets_no_waiting_reminder(due, people, mailoutbox):
    with time_machine.travel(AT_RISK):
        Member.objects.exclude(role=Role.OWNER).delete()
        tasks.remind()
    assert recipients(mailoutbox) == ["owner@bank.example"]


@pytest.mark.once
def test_an_edit_leaves_the_deadline_as_it_was(api, due):
    with time_machine.travel(LATE):
        assert done(edit(api, due, title="New"))["due_at"] == due["due_at"]
