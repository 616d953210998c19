"""The review loop by API alone: the draft of a notice names the review request that it answers."""

import pytest

from notices.models import Notice, ReviewRequest
from tests.notices.conftest import RECORD, done, drafted, refused, send, step
from tests.notices.test_loop import PERSON, finished, offered
from tests.notices.test_review_requests import ask, listed, reconsider
from tests.support.kept_rows import make_once

pytestmark = pytest.mark.django_db

ANOTHER = {"name": "Blake Other", "address": ["9 Other Street"], "language": "de"}


@pytest.fixture
def asked(api) -> tuple[ReviewRequest, ReviewRequest]:
    """Return two people's review requests about one decision."""

    def make() -> tuple[ReviewRequest, ReviewRequest]:
        done(api.ingest(RECORD))
        first = ask(api, offered(api, recipient=PERSON))
        return first, ask(api, offered(api, recipient=ANOTHER), email="blake@home.example")

    return make_once("asked by two", make)


@pytest.fixture
def answer(api, asked) -> dict:
    """Return a reconsideration whose outcome neither person knows yet."""
    return make_once("answer to two", lambda: reconsider(api))


def draft(api, decision_id: str, request: object, **body):
    return send(api, "POST", f"decisions/{decision_id}/notices", {"review_request_id": str(request), **body})


def state_of(api, request: ReviewRequest) -> str:
    return next(row["state"] for row in listed(api) if row["review_request_id"] == str(request.pk))


def test_the_api_leads_from_a_reconsideration_to_each_person_s_delivered_letter(api, asked, answer):
    assert [item["review_request_id"] for item in answer["to_be_told"]] == [str(row.pk) for row in asked]
    for request, recipient in zip(asked, (PERSON, ANOTHER | {"email": "blake@home.example"}), strict=True):
        letter = done(draft(api, answer["decision_id"], request.pk, pack="general"))
        assert letter["recipient"] == recipient
        assert letter["answers"] == [str(request.pk)]
        assert letter["language"] == recipient.get("language", "en")
        assert state_of(api, request) == "to_be_told"
        done(step(api, finished(api, letter), "deliveries", {"channel": "hand"}))
        assert state_of(api, request) == "answered"


def test_without_a_request_number_the_draft_answers_the_longest_waiting(api, asked, answer):
    assert drafted(api, answer["decision_id"], pack="general")["answers"] == [str(asked[0].pk)]


@pytest.mark.parametrize("part", ["name", "reference"])
def test_a_recipient_other_than_the_requester_is_refused(api, asked, part):
    answer, before = reconsider(api)["decision_id"], Notice.objects.count()
    sentence = refused(draft(api, answer, asked[0].pk, recipient={part: "canary-person"}))
    assert f"R-{asked[0].pk}" in sentence
    assert "canary" not in sentence
    assert Notice.objects.count() == before


def test_the_requester_at_another_address_is_accepted(api, asked):
    elsewhere = {"name": "example  PERSON", "address": ["3 New Street"]}
    letter = done(draft(api, reconsider(api)["decision_id"], asked[0].pk, recipient=elsewhere))
    assert letter["recipient"]["address"] == ["3 New Street"]
    assert letter["answers"] == [str(asked[0].pk)]


def assert_names_no_request(answer):
    assert answer.status_code == 422
    (problem,) = answer.json()["detail"]
    assert problem["loc"] == ["body", "review_request_id"]
    assert "reconsideration" in problem["msg"]


def test_a_request_about_another_record_is_refused(api, asked, other_api):
    number, answer = asked[0].pk, reconsider(api)["decision_id"]
    assert_names_no_request(draft(api, answer, 10**17))
    assert_names_no_request(draft(api, "loan-1", number))
    later = ask(api, offered(api, "loan-1", recipient={"name": "Later Person"}))
    assert_names_no_request(draft(api, answer, later.pk))
    done(other_api.ingest(RECORD))
    assert_names_no_request(draft(other_api, reconsider(other_api)["decision_id"], number))


@pytest.mark.parametrize("number", ["", "R-1", "1.0", "-1", "٣", "9" * 19, 1])
def test_an_invalid_request_number_is_a_422(api, asked, number):
    answer = send(api, "POST", f"decisions/{reconsider(api)['decision_id']}/notices", {"review_request_id": number})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "review_request_id"]


def settle(api, notice: dict) -> None:
    """Recompute who knows the outcome without a delivery: draft about the same decision and withdraw it."""
    other = drafted(api, notice["decision_id"], pack="general", recipient={"name": "Another Person"})
    done(step(api, other, "withdraw"))


def test_a_letter_delivered_to_another_cannot_be_readdressed_to_the_requester(api, asked, answer):
    letter = finished(api, drafted(api, answer["decision_id"], pack="general", recipient={"name": "Bob Other"}))
    delivery = done(step(api, letter, "deliveries", {"channel": "post"}))
    path = f"notices/{letter['notice_id']}/recipient"
    for recipient in (PERSON, {"name": PERSON["name"]}, {"name": "Bob Other", "address": ["2 Example Street"]}, {}):
        assert "delivered" in refused(send(api, "PUT", path, {"recipient": recipient}))
    settle(api, letter)
    assert state_of(api, asked[0]) == "to_be_told"
    done(send(api, "PUT", path, {"recipient": {"name": "Bob Other"}}))
    done(step(api, letter, f"deliveries/{delivery['delivery_id']}/return", {"reason": "Moved."}))
    done(send(api, "PUT", path, {"recipient": {"name": PERSON["name"]}}))
    settle(api, letter)
    assert state_of(api, asked[0]) == "to_be_told"


@pytest.mark.parametrize("name", [{}, {"name": ""}, {"name": " "}])
def test_a_letter_that_answers_a_request_names_the_requester_at_any_address(api, asked, name):
    recipient = {"address": ["9 New Street"], **name}
    letter = done(draft(api, reconsider(api)["decision_id"], asked[0].pk, recipient=recipient))
    assert letter["recipient"] == {**PERSON, "address": ["9 New Street"]}
    assert letter["answers"] == [str(asked[0].pk)]


@pytest.mark.parametrize(
    "recipient", [{"address": ["9 New Street"]}, {"reference": "person 7"}, {"email": "a@b.example"}]
)
def test_a_letter_without_a_name_answers_no_named_requester(api, asked, answer, recipient):
    letter = drafted(api, answer["decision_id"], pack="general", recipient=recipient)
    assert letter["answers"] == []
    done(step(api, finished(api, letter), "deliveries", {"channel": "post"}))
    assert [state_of(api, request) for request in asked] == ["to_be_told"] * 2


def test_a_requester_with_only_a_reference_is_answered_by_a_letter_with_it(api):
    done(api.ingest(RECORD))
    request = ask(api, offered(api, recipient={"reference": "person 7"}))
    answer = reconsider(api)["decision_id"]
    assert drafted(api, answer, pack="general", recipient={"name": "Example Person"})["answers"] == []
    known = {"name": "Example Person", "reference": "PERSON 7"}
    assert drafted(api, answer, pack="general", recipient=known)["answers"] == [str(request.pk)]
