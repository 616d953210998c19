"""The review loop: a person who requested a review gets the outcome, or a member records why not."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from accounts.models import AuditEvent
from accounts.roles import Role
from custody import vaults
from custody.disposal import families
from custody.models import object_key
from custody.record_types import Families
from decisions.models import Decision
from notices import tasks
from notices.models import Delivery, Notice, ReviewRequest
from tests.disposals import dispose_of
from tests.notices.conftest import (
    RECORD,
    approve_as_listed,
    done,
    drafted,
    edit,
    exempt,
    refused,
    send,
    shown,
    step,
    stored,
)
from tests.notices.test_back_office_review import text
from tests.notices.test_review_requests import ask, listed, offering, reconsider
from tests.reconsiderations.conftest import REVIEW
from tests.support.kept_rows import make_once
from tests.support.unguarded import unguarded
from tests.threads import at_once

__all__ = ["offering"]
pytestmark = pytest.mark.django_db

PERSON = {"name": "Example Person", "address": ["2 Example Street"], "reference": "person 7"}
WORDS = "My income is higher than you think."
REASON = "canary-5Lm2 She was told by telephone."


def finished(api, notice: dict, by=None) -> dict:
    """Approve a notice whatever its checklist needs, by another key if required."""
    missing = [item["id"] for item in notice["elements"] if item["result"] == "missing" and item["blocks"]]
    if missing:
        notice = done(exempt(api, notice, **dict.fromkeys(missing, "Told in another letter.")))
    return done(approve_as_listed(by or api, notice))


def tell(api, answer: dict, **recipient) -> dict:
    """Deliver a letter about a reconsideration."""
    letter = finished(api, drafted(api, answer["decision_id"], pack="general", recipient=recipient))
    return done(step(api, letter, "deliveries", {"channel": "hand"}))


def offered(api, decision_id: str = "loan-1", by=None, **body) -> dict:
    """Return an approved notice whose letter offers a review."""
    notice = drafted(api, decision_id, **body)
    offer = {"human_review_available": True, "how_to_request_review": "On the page of this letter."}
    return finished(api, done(edit(api, notice, **offer)), by)


@pytest.fixture
def asked(api) -> ReviewRequest:
    """Return the review request of a person with name and address, due in a month."""

    def make() -> ReviewRequest:
        done(api.ingest(RECORD))
        request = ask(api, offered(api, recipient=PERSON), message=WORDS, email="person@home.example")
        ReviewRequest.objects.update(due_at=timezone.now() + timedelta(days=30), due_clock="one_month")
        request.refresh_from_db()
        return request

    return make_once("asked", make)


@pytest.fixture
def answer(api, asked) -> dict:
    """Return a reconsideration whose outcome the person does not know yet."""
    return make_once("answer", lambda: reconsider(api))


@pytest.fixture
def letter(api, answer) -> dict:
    """Return an approved letter about the reconsideration."""
    return make_once("letter about an answer", lambda: finished(api, drafted(api, answer["decision_id"])))


@pytest.fixture
def outcome_letter(api, answer) -> dict:
    """Return the delivery of a letter about the reconsideration."""
    return make_once("told", lambda: tell(api, answer))


def states(api) -> list[str]:
    return [row["state"] for row in listed(api)]


# ── when a request is answered ──


def test_a_request_stays_with_its_deadline_until_a_letter_about_the_outcome_is_delivered(api, asked, answer):
    (row,) = listed(api, state="to_be_told")
    assert (row["answered_by"], row["told_at"], row["due_at"] is None) == (answer["decision_id"], None, False)
    letter = finished(api, drafted(api, answer["decision_id"]))
    assert states(api) == ["to_be_told"]
    done(step(api, letter, "deliveries", {"channel": "post"}))
    (row,) = listed(api, state="answered")
    assert (row["told_by"], row["told_at"], row["closed_at"]) == (
        letter["notice_id"], shown(api, letter)["delivered_at"], None,
    )  # fmt: skip
    (event,) = AuditEvent.objects.filter(verb="review.told")
    assert event.detail == {"request": asked.pk, "letter": letter["notice_id"]}
    assert "knows the outcome" in refused(send(api, "POST", f"review-requests/{asked.pk}/close", {"reason": "Done."}))


def test_a_mailed_letter_counts_once_the_mail_server_accepts_it(api, asked, letter, mailoutbox):
    done(step(api, letter, "deliveries", {"channel": "email"}))
    assert states(api) == ["to_be_told"]
    tasks.deliver_letters()
    assert states(api) == ["answered"]
    assert ["person@home.example"] in [message.to for message in mailoutbox]


def test_a_refused_mail_leaves_the_request_open(api, asked, smtp):
    smtp.refused = {"person@home.example"}
    letter = finished(api, drafted(api, reconsider(api)["decision_id"]))
    done(step(api, letter, "deliveries", {"channel": "email"}))
    tasks.deliver_letters()
    assert states(api) == ["to_be_told"]


def test_a_returned_letter_reopens_the_request(api, asked, outcome_letter):
    letter = Notice.objects.get(pk=ReviewRequest.objects.get().told_by_id)
    done(
        send(
            api, "POST", f"notices/{letter.pk}/deliveries/{outcome_letter['delivery_id']}/return", {"reason": "Moved."}
        )
    )
    assert states(api) == ["to_be_told"]
    assert AuditEvent.objects.filter(verb="review.to_be_told").count() == 1
    done(send(api, "POST", f"notices/{letter.pk}/deliveries", {"channel": "post"}))
    assert states(api) == ["answered"]


def test_one_returned_delivery_of_two_reopens_nothing(api, asked, outcome_letter):
    letter = ReviewRequest.objects.get().told_by_id
    done(send(api, "POST", f"notices/{letter}/deliveries", {"channel": "post"}))
    done(send(api, "POST", f"notices/{letter}/deliveries/{outcome_letter['delivery_id']}/return", {"reason": "Moved."}))
    assert states(api) == ["answered"]


def test_a_withdrawn_or_replaced_letter_reopens_the_request(api, asked, answer, outcome_letter):
    letter = {"notice_id": str(ReviewRequest.objects.get().told_by_id)}
    done(approve_as_listed(api, done(step(api, letter, "versions"))))
    assert states(api) == ["to_be_told"]
    tell(api, answer)
    assert states(api) == ["answered"]
    done(step(api, {"notice_id": str(ReviewRequest.objects.get().told_by_id)}, "withdraw"))
    assert states(api) == ["to_be_told"]


def test_another_letter_about_the_first_decision_answers_no_request(api, asked, answer):
    done(step(api, offered(api, recipient=PERSON), "deliveries", {"channel": "hand"}))
    assert states(api) == ["to_be_told"]


def test_a_letter_about_an_earlier_reconsideration_answers_no_later_request(api):
    done(api.ingest(RECORD))
    earlier = reconsider(api)
    ask(api, offered(api, recipient=PERSON))
    reconsider(api, rationale="Seen again.")
    tell(api, earlier)
    assert states(api) == ["to_be_told"]


def test_a_letter_about_a_later_reconsideration_answers_the_request(api, asked):
    first = reconsider(api)
    tell(api, reconsider(api, first["decision_id"]))
    assert states(api) == ["answered"]


def test_a_repeated_request_keeps_its_number_until_the_outcome_is_known(api, asked, answer):
    letter = {"notice_id": str(asked.notice_id)}
    assert ask(api, letter, message="And?").pk == asked.pk
    tell(api, answer)
    assert ask(api, letter).pk != asked.pk


def test_the_database_refuses_told_without_a_letter_and_told_and_closed(api, asked):
    now = timezone.now()
    closed = {"closed_at": now, "closed_because": "x"}
    for columns in ({"told_at": now}, {"told_by": asked.notice}, {"told_at": now, "told_by": asked.notice, **closed}):
        with pytest.raises(IntegrityError), transaction.atomic():
            ReviewRequest.objects.update(**columns)


# ── closing with a reason ──


def test_roles_that_reconsider_close_a_waiting_request_with_a_reason(api, asked, answer, organization, api_for):
    path = f"review-requests/{asked.pk}/close"
    assert send(api, "POST", path, {"reason": " "}).status_code == 422
    assert send(api_for(organization, Role.AUDITOR), "POST", path, {"reason": REASON}).status_code == 403
    assert states(api) == ["to_be_told"]
    closed = done(send(api_for(organization, Role.EDITOR), "POST", path, {"reason": REASON}))
    assert (closed["state"], closed["closed_because"]) == ("closed", REASON)


def test_the_reviewer_and_writer_may_close_a_request(api, asked, signed_in):
    editor = signed_in(Role.EDITOR)
    answer = done(send(editor, "POST", "decisions/loan-1/reconsideration", REVIEW))
    done(send(editor, "POST", f"decisions/{answer['decision_id']}/notices", {}))
    done(send(editor, "POST", f"review-requests/{asked.pk}/close", {"reason": REASON}))


def test_the_reason_reaches_neither_the_audit_trail_nor_the_log(api, asked, answer, capfd):
    done(send(api, "POST", f"review-requests/{asked.pk}/close", {"reason": REASON}))
    events = [str(list(row)) for row in AuditEvent.objects.values_list()]
    assert not [line for line in (*events, *capfd.readouterr()) if "canary" in line]


def test_a_closed_request_stays_closed_after_any_letter(api, asked, answer):
    done(send(api, "POST", f"review-requests/{asked.pk}/close", {"reason": REASON}))
    tell(api, answer)
    assert states(api) == ["closed"]


# ── several requests on one decision ──


def test_one_letter_answers_all_requests_of_one_person_and_no_other_s(api, asked):
    again = {**PERSON, "name": " example  PERSON ", "address": ["3 Other Street"]}
    ask(api, offered(api, recipient=again))
    other = ask(api, offered(api, recipient={"name": "Other Person", "reference": "person 7"}))
    answer = reconsider(api)
    assert states(api) == ["to_be_told"] * 3
    tell(api, answer, **PERSON)
    assert [row["review_request_id"] for row in listed(api, state="to_be_told")] == [str(other.pk)]
    tell(api, answer, name="Other Person")
    assert states(api) == ["answered"] * 3


def test_a_letter_is_drafted_for_each_person(api, asked, signed_in):
    other = ask(api, offered(api, recipient={"name": "Other Person"}), email="other@home.example")
    answer = Decision.objects.get(decision_id=reconsider(api)["decision_id"])
    browser = signed_in(Role.EDITOR)
    decision = reverse("admin:decisions_decision_change", args=[asked.notice.decision_id])
    page_text = text(browser.get(decision))
    assert f"R-{asked.pk}, R-{other.pk} are answered: write the letters" in page_text
    for request in (asked, other):
        draft = reverse("admin:draft-notice", args=[answer.pk])
        browser.submit(decision, draft, pack="general", review_request=str(request.pk))
    assert [notice.recipient for notice in Notice.objects.filter(decision=answer).order_by("created_at")] == [
        {**PERSON, "email": "person@home.example"},
        {"name": "Other Person", "email": "other@home.example"},
    ]


# ── the letter ──


def test_a_draft_about_the_outcome_goes_to_the_person_in_the_language_of_their_letter(api):
    done(api.ingest(RECORD))
    ask(api, offered(api, recipient={**PERSON, "language": "de"}), email="person@home.example")
    letter = drafted(api, reconsider(api)["decision_id"])
    assert letter["recipient"] == {**PERSON, "language": "de", "email": "person@home.example"}
    assert letter["language"] == "de"


def test_a_named_recipient_overrides_the_person_of_the_request(api, asked, answer):
    letter = drafted(api, answer["decision_id"], recipient={"name": "Their Lawyer"})
    assert letter["recipient"] == {"name": "Their Lawyer"}
    assert letter["answers"] == []


def test_no_draft_goes_to_an_address_that_the_mail_server_refuses(api, asked):
    ReviewRequest.objects.update(refused_at=timezone.now())
    assert drafted(api, reconsider(api)["decision_id"])["recipient"] == PERSON


def test_the_new_letter_goes_to_the_recipient_of_the_withdrawn_one(api, asked):
    step(api, {"notice_id": str(asked.notice_id)}, "withdraw")
    assert drafted(api, reconsider(api)["decision_id"])["recipient"]["name"] == PERSON["name"]


def test_a_draft_about_a_decision_has_only_the_named_recipient(api):
    done(api.ingest(RECORD))
    assert drafted(api)["recipient"] == {}


def test_the_letter_about_the_outcome_carries_the_deadline_of_the_request(api, api_for):
    record = {**RECORD, "outcome": {**RECORD["outcome"], "solely_automated": True, "legal_basis": "contract"}}
    done(api.ingest(record))
    with time_machine.travel("2027-01-31T12:00Z"):
        request = ask(api, offered(api, by=api_for(api.organization), pack="gdpr_22", recipient=PERSON))
    with time_machine.travel("2027-02-10T12:00Z"):
        letter = drafted(api, reconsider(api)["decision_id"], pack="general")
        assert (letter["due_at"], letter["answers"]) == ("2027-02-28T23:59:59.000000Z", [str(request.pk)])
        assert letter["deadline"]["arithmetic"].startswith("1 month after January 31, 2027, when the person asked")
        assert Notice.objects.get(pk=letter["notice_id"]).due_clock == "one_month"
        replaced = done(step(api, finished(api, letter), "versions"))
        assert replaced["due_at"] == letter["due_at"]
    with time_machine.travel("2027-03-02T12:00Z"):
        assert letter["notice_id"] in [row["notice_id"] for row in done(api.get("/v1/notices", due="overdue"))["items"]]


def test_the_strictest_of_pack_and_requests_counts(api, asked):
    soon = datetime(2099, 1, 1, tzinfo=UTC)
    ReviewRequest.objects.update(due_at=soon)
    answer = reconsider(api)["decision_id"]
    assert drafted(api, answer, pack="us_ecoa_fcra")["due_at"] < "2099"
    assert drafted(api, answer, pack="general")["due_at"] == "2099-01-01T00:00:00.000000Z"


def test_recording_by_the_api_ends_on_the_letter_to_write(api, asked, answer):
    (waiting,) = answer["to_be_told"]
    assert waiting["review_request_id"] == str(asked.pk)
    assert waiting["due_at"]
    assert waiting["next"] == (
        f"R-{asked.pk} is answered: write the letter "
        f'(POST /v1/decisions/{answer["decision_id"]}/notices with "review_request_id": "{asked.pk}").'
    )
    tell(api, answer)
    assert reconsider(api, rationale="Once more.")["to_be_told"] == []


# ── disposed and destroyed records ──


def test_a_person_waiting_for_the_outcome_blocks_a_disposal(api, asked):
    done(send(api, "POST", f"notices/{asked.notice_id}/deliveries", {"channel": "hand"}))
    family = Families(api.organization.pk, [asked.notice.decision_id])
    answer = reconsider(api)
    (_, sentence), *others = [
        (root, reason) for root, reasons in families.obstacles(family).items() for reason in reasons
    ]
    assert ("told the outcome" in sentence, others) == (True, [])
    tell(api, answer)
    assert not any(families.obstacles(family).values())


def test_requests_are_disposed_of_with_their_decision_and_outcome_letter(api, asked, outcome_letter):
    dispose_of(api.organization)
    assert not ReviewRequest.objects.exists()


def test_a_request_about_a_destroyed_record_can_only_be_closed(api, asked, answer, signed_in):
    for row in Decision.objects.select_related("record"):
        with unguarded():
            vaults.current().delete(object_key(row.organization_id, row.pk))
    browser = signed_in(Role.EDITOR)
    page = reverse("admin:notices_reviewrequest_change", args=[asked.pk])
    assert f"R-{asked.pk} is answered" in text(browser.get(page))
    assert browser.get(reverse("admin:decisions_decision_change", args=[asked.notice.decision_id])).status_code == 200
    assert send(api, "POST", f"decisions/{answer['decision_id']}/notices", {}).status_code == 500
    close = reverse("admin:close-review-request", args=[asked.pk])
    assert browser.submit(page, close, reason="The record is destroyed; told by letter.").status_code == 302
    assert states(api) == ["closed"]


def test_a_letter_written_before_answers_though_the_first_record_is_destroyed(api, asked, letter):
    row = asked.notice.decision
    with unguarded():
        vaults.current().delete(object_key(row.organization_id, row.pk))
    assert shown(api, letter)["due_at"]
    done(step(api, letter, "deliveries", {"channel": "hand"}))
    assert states(api) == ["answered"]


# ── concurrency ──


def test_closing_and_delivering_at_once_leave_one_consistent_result(shared_database, api):
    done(api.ingest(RECORD))
    for _ in range(3):
        request = ask(api, offered(api, recipient=PERSON))
        answer = reconsider(api)
        letters = [finished(api, drafted(api, answer["decision_id"])) for _ in range(2)]

        def act(number: int, request=request, letters=letters) -> int:
            if number == 0:
                return send(api, "POST", f"review-requests/{request.pk}/close", {"reason": "Told."}).status_code
            return step(api, letters[number % 2], "deliveries", {"channel": "hand"}).status_code

        closed, *delivered = at_once(3, act)
        assert delivered == [201, 201]
        request.refresh_from_db()
        assert (closed, bool(request.closed_at), bool(request.told_at)) in ((200, True, False), (409, False, True))
        assert stored(api, letters[0]).state == "delivered"


def test_a_return_and_a_delivery_at_once_leave_a_consistent_state(shared_database, api):
    done(api.ingest(RECORD))
    request = ask(api, offered(api, recipient=PERSON))
    answer = reconsider(api)
    back, out = (finished(api, drafted(api, answer["decision_id"])) for _ in range(2))
    delivery = done(step(api, back, "deliveries", {"channel": "hand"}))

    def act(number: int) -> int:
        if number:
            return step(api, out, "deliveries", {"channel": "hand"}).status_code
        return step(api, back, f"deliveries/{delivery['delivery_id']}/return", {"reason": "Moved."}).status_code

    assert set(at_once(2, act)) <= {200, 201}
    request.refresh_from_db()
    assert str(request.told_by_id) == out["notice_id"]
    assert request.told_at == Delivery.objects.get(notice=out["notice_id"]).delivered_at
