"""Guarantees when many callers act on one notice at once."""

import pytest

from accounts.models import AuditEvent
from notices import services
from notices.models import Approval, Delivery, Notice, NoticeRevision, Step
from tests.notices.conftest import RECORD, approve, approve_as_listed, done, drafted, edit, refused, shown, step
from tests.notices.test_review_requests import ask
from tests.threads import at_once

SENDERS = 8


@pytest.fixture
def bank(shared_database, api):
    """Return a caller in a database that threads share, as in production."""
    assert api.ingest(RECORD).status_code == 201
    return api


def by_status(answers) -> dict[int, list]:
    return {status: [a for a in answers if a.status_code == status] for status in {a.status_code for a in answers}}


def test_one_of_many_approvals_wins_and_the_others_get_a_409(bank):
    notice = drafted(bank)
    answers = at_once(SENDERS, lambda number: approve(bank, notice, approver=f"Reviewer {number}"))
    by_code = by_status(answers)
    assert {status: len(group) for status, group in by_code.items()} == {200: 1, 409: SENDERS - 1}
    (winner,) = by_code[200]
    approver = winner.json()["approval"]["approver"]
    assert all(f"{approver} approved it" in refused(answer) for answer in by_code[409])
    assert Approval.objects.get().approver == approver
    assert AuditEvent.objects.filter(verb="notice.approved").count() == 1
    assert shown(bank, notice)["custody_record_id"]


def test_an_approval_during_edits_is_of_the_revision_shown(bank):
    for _ in range(3):
        notice = drafted(bank)

        def either(number: int, notice: dict = notice) -> int:
            if number % 2:
                return edit(bank, notice, title=f"Edit {number}").status_code
            return approve(bank, notice, revision=1).status_code

        statuses = at_once(4, either)
        row = Notice.objects.get(pk=notice["notice_id"])
        last = row.revisions.order_by("-number")[0]
        assert set(statuses) <= {200, 409}
        if row.state == Notice.State.APPROVED:
            assert (row.approval.revision_id, last.number) == (last.pk, 1)
            assert statuses[1::2] == [409, 409]
        else:
            assert statuses[::2] == [409, 409]


def test_many_edits_make_as_many_revisions(bank):
    notice = drafted(bank)
    answers = at_once(SENDERS, lambda number: edit(bank, notice, title=f"Edit {number}"))
    assert [answer.status_code for answer in answers] == [200] * SENDERS
    numbers = NoticeRevision.objects.order_by("number").values_list("number", flat=True)
    assert list(numbers) == list(range(1, SENDERS + 2))


def test_of_many_new_versions_one_is_made(bank):
    notice = done(approve(bank, drafted(bank)))
    answers = at_once(SENDERS, lambda _: step(bank, notice, "versions"))
    assert {status: len(group) for status, group in by_status(answers).items()} == {201: 1, 409: SENDERS - 1}


def test_a_notice_is_withdrawn_once(bank):
    notice = drafted(bank)
    answers = at_once(SENDERS, lambda _: step(bank, notice, "withdraw"))
    assert [answer.status_code for answer in answers] == [200] * SENDERS
    assert Step.objects.count() == 1


def test_a_notice_that_is_withdrawn_is_not_delivered_afterwards(bank):
    notice = done(approve(bank, drafted(bank)))

    def either(number: int) -> int:
        name, body = ("withdraw", None) if number == 0 else ("deliveries", {"channel": "hand"})
        return step(bank, notice, name, body).status_code

    statuses = at_once(4, either)
    assert (statuses[0], set(statuses[1:]) <= {201, 409}) == (200, True)
    assert shown(bank, notice)["state"] == "withdrawn"
    assert Delivery.objects.count() == statuses.count(201)


@pytest.mark.filterwarnings("ignore:unclosed file .*sRGB2014:ResourceWarning")
def test_two_workers_mail_a_letter_once(bank, mailoutbox):
    notice = done(approve(bank, drafted(bank, recipient={"email": "person@home.example"})))
    done(step(bank, notice, "deliveries", {"channel": "email"}))
    assert sorted(at_once(2, lambda _: services.deliver_letters())) == [0, 1]
    assert len(mailoutbox) == 1


def test_two_workers_remind_once_and_seal_once(bank, mailoutbox, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("notices.services.review.seal_approved", lambda **_: 0)
        notice = done(approve(bank, drafted(bank)))
    at_once(4, lambda _: services.seal_approved())
    assert shown(bank, notice)["custody_record_id"]
    Notice.objects.update(due_at=RECORD["decided_at"])
    assert sum(at_once(4, lambda _: services.remind())) >= 1
    at_once(4, lambda _: services.send_reminders())
    assert len(mailoutbox) == 1


def test_a_reader_who_asks_many_times_at_once_asks_once(bank):
    notice = done(edit(bank, drafted(bank), human_review_available=True))
    done(approve_as_listed(bank, notice))
    assert len({asked.pk for asked in at_once(4, lambda _: ask(bank, notice))}) == 1
