"""Review requests: a letter's reader requests one with its code, once, and gets an answer in time."""

import re

import pytest
import time_machine

from accounts.models import AuditEvent
from accounts.roles import Role
from config.errors import NotFound
from custody import selectors as custody
from notices import selectors, services, tasks
from notices.errors import NoReviewOffered, WrongCode
from notices.models import Notice, ReviewRequest
from tests.cases import each_case
from tests.notices.conftest import (
    RECORD,
    approve,
    done,
    drafted,
    edit,
    fill_in_names,
    ingest_sample,
    refused,
    send,
    step,
    stored,
    warnings_of,
)
from tests.support.kept_rows import make_once

pytestmark = pytest.mark.django_db

REVIEW = {
    "requested_by": "the applicant",
    "reviewer": "A. Reviewer",
    "reviewer_authority": "credit officer",
    "outcome": "overturned",
    "rationale": "The payslip shows a higher income.",
}
WORDS = "My income is higher than you think."


@pytest.fixture
def offering(api, notice) -> dict:
    """Return an approved notice whose letter offers a review."""

    def make() -> dict:
        edit(api, notice, human_review_available=True, how_to_request_review="On the page of this letter.")
        return done(approve(api, notice))

    return make_once("offering", make)


def code_of(api, notice) -> str:
    """Return the code as the person reads it in the letter."""
    letter = api.get(f"/v1/notices/{notice['notice_id']}/letter", format="text").content.decode()
    return re.search(r"(?<![\w-])[A-Z2-7]{4}-[A-Z2-7]{4}(?![\w-])", letter).group()


def ask(api, notice, code: str = "", **words) -> ReviewRequest:
    """Request a review as the letter's public page does."""
    row = selectors.published(stored(api, notice).address)
    return services.request_review(notice=row, code=code or selectors.letter(row).review_code, **words)


def reconsider(api, decision_id: str = "loan-1", **changes) -> dict:
    return done(send(api, "POST", f"decisions/{decision_id}/reconsideration", REVIEW | changes))


def listed(api, **query) -> list[dict]:
    return done(api.get("/v1/review-requests", **query))["items"]


# ── making a request ──


def test_a_request_lands_in_the_queue(api, offering):
    asked = ask(api, offering, message=WORDS)
    (row,) = listed(api)
    assert (row["review_request_id"], row["notice_id"]) == (str(asked.pk), offering["notice_id"])
    assert (row["decision_id"], row["state"], row["due_at"]) == ("loan-1", "open", None)
    assert AuditEvent.objects.get(verb="review.requested").actor_label == "recipient (letter code)"


@pytest.mark.parametrize(
    "spell", [str.lower, lambda code: f" {code.replace('-', ' ')}\n", lambda c: c.replace("-", "")]
)
def test_the_code_may_be_written_as_people_write(api, offering, spell):
    assert ask(api, offering, spell(code_of(api, offering))).pk


@each_case("code", ["AAAA-AAAA", " ", "ß" * 8, "\0", "-" * 5000, "\uff21" * 8])
def test_a_wrong_code_makes_no_request(api, offering, code):
    with pytest.raises(WrongCode):
        ask(api, offering, code)
    assert not ReviewRequest.objects.exists()


def test_the_code_of_another_letter_is_a_wrong_one(api, offering):
    other = drafted(api)
    edit(api, other, human_review_available=True)
    with pytest.raises(WrongCode):
        ask(api, offering, code_of(api, done(approve(api, other, acknowledge=warnings_of(api, other)))))


def test_asking_twice_is_one_request_and_after_it_was_closed_another(api, offering):
    first = ask(api, offering, message=WORDS)
    assert ask(api, offering, message="And again.").pk == first.pk
    assert ReviewRequest.objects.get().message == WORDS
    done(send(api, "POST", f"review-requests/{first.pk}/close", {"reason": "Taken back by telephone."}))
    assert ask(api, offering).pk != first.pk


def test_a_letter_without_a_review_takes_no_request(api, notice):
    done(approve(api, notice))
    code = custody.opened(stored(api, notice).sealed.record).payload.partition(b'"review_code":"')[2][:9].decode()
    with pytest.raises(NoReviewOffered):
        ask(api, notice, code)


def test_a_withdrawn_letter_takes_no_request(api, offering):
    code = code_of(api, offering)
    step(api, offering, "withdraw")
    with pytest.raises(NoReviewOffered):
        ask(api, offering, code)


def test_a_letter_that_was_delivered_takes_one(api, offering):
    step(api, offering, "deliveries", {"channel": "hand"})
    assert ask(api, offering).pk


# ── deadlines ──


def test_a_request_is_due_by_the_law_s_clock_for_answers(api):
    decision_id = ingest_sample(api, "synthetic-insurance-03")
    fill_in_names(api, "gdpr_22")
    notice = done(approve(api, drafted(api, decision_id)))
    with time_machine.travel("2027-01-31T12:00Z"):
        asked = ask(api, notice)
    assert (asked.due_clock, asked.due_at.isoformat()) == ("one_month", "2027-02-28T23:59:59+00:00")


def test_members_are_reminded_of_a_request_that_is_due(api, offering, mailoutbox):
    asked = ask(api, offering, message=WORDS, email="person@home.example")
    ReviewRequest.objects.update(due_at=asked.received_at)
    tasks.remind()
    (message,) = mailoutbox
    mail = message.body + "".join(part.content for part in message.alternatives)
    assert "loan-1" in mail or offering["notice_id"] in mail
    assert WORDS not in mail
    assert "person@home.example" not in mail


# ── life of a request ──


def test_a_later_reconsideration_answers_it_and_an_earlier_one_does_not(api, offering):
    reconsider(api)
    ask(api, offering)
    assert [row["state"] for row in listed(api)] == ["open"]
    reconsider(api, rationale="Seen again.")
    assert [row["state"] for row in listed(api)] == ["to_be_told"]
    assert [len(listed(api, state=state)) for state in ("open", "to_be_told", "answered")] == [0, 1, 0]


def test_the_reconsideration_of_another_decision_answers_nothing(api, offering):
    api.ingest(RECORD | {"decision_id": "loan-2"})
    ask(api, offering)
    reconsider(api, "loan-2")
    assert [row["state"] for row in listed(api)] == ["open"]


def test_a_request_about_a_reconsidered_decision_is_answered_too(api, offering):
    """A notice may be about a reconsideration. A later reconsideration belongs to the first decision's chain."""
    reconsidered = reconsider(api)["decision_id"]
    notice = drafted(api, reconsidered)
    edit(api, notice, human_review_available=True)
    ask(api, done(approve(api, notice, acknowledge=warnings_of(api, notice))))
    assert [row["state"] for row in listed(api)] == ["open"]
    reconsider(api, reconsidered)
    assert [row["state"] for row in listed(api)] == ["to_be_told"]


def test_a_request_is_closed_once_and_with_a_reason(api, offering):
    path = f"review-requests/{ask(api, offering).pk}/close"
    assert send(api, "POST", path, {"reason": " "}).status_code == 422
    closed = done(send(api, "POST", path, {"reason": "Taken back by telephone."}))
    assert (closed["state"], closed["closed_because"]) == ("closed", "Taken back by telephone.")
    assert closed["closed_by"].startswith("key ")
    assert "already" in refused(send(api, "POST", path, {"reason": "Again."}))
    assert [row["state"] for row in listed(api, state="closed")] == ["closed"]
    assert listed(api, state="open") == []


# ── readers of a request ──


def test_only_roles_that_answer_read_the_person_s_words(api, offering, organization, api_for):
    asked = ask(api, offering, message=WORDS, email="person@home.example")
    path = f"/v1/review-requests/{asked.pk}"
    assert done(api_for(organization, Role.EDITOR).get(path))["message"] == WORDS
    auditor = api_for(organization, Role.AUDITOR)
    assert auditor.get(path).status_code == 403
    shown = auditor.get("/v1/review-requests").content.decode()
    assert str(asked.pk) in shown
    assert "income" not in shown
    assert "person@home.example" not in shown


# ── the acknowledgement ──


def test_a_person_with_an_address_gets_one_acknowledgement(api, offering, mailoutbox):
    ask(api, offering, message=WORDS, email="person@home.example")
    ask(api, offering, email="person@home.example")
    for _ in range(2):
        tasks.acknowledge_requests()
    (message,) = mailoutbox
    assert message.to == ["person@home.example"]
    assert "Example Bank" in message.subject
    assert offering["public_address"] in message.body
    assert WORDS not in message.body
    assert AuditEvent.objects.filter(verb="review.acknowledged").count() == 1


def test_a_person_without_an_address_gets_no_acknowledgement(api, offering, mailoutbox):
    ask(api, offering)
    tasks.acknowledge_requests()
    assert mailoutbox == []


def test_a_letter_has_no_public_page_before_it_is_in_custody(api, notice, monkeypatch):
    monkeypatch.setattr("notices.services.review.seal_approved", lambda **_: 0)
    done(approve(api, notice))
    with pytest.raises(NotFound):
        selectors.published(Notice.objects.get().address)


def test_a_request_closed_before_its_reconsideration_is_listed_as_closed(api, offering):
    request = ask(api, offering)
    done(send(api, "POST", f"review-requests/{request.pk}/close", {"reason": "Taken back."}))
    reconsider(api)
    states = {state: [row["state"] for row in listed(api, state=state)] for state in ("to_be_told", "closed")}
    assert states == {"to_be_told": [], "closed": ["closed"]}


def test_a_letter_withdrawn_during_a_request_takes_none(api, offering):
    opened, code = selectors.published(stored(api, offering).address), code_of(api, offering)
    done(step(api, offering, "withdraw"))
    with pytest.raises(NoReviewOffered):
        services.request_review(notice=opened, code=code)
    assert not ReviewRequest.objects.exists()
