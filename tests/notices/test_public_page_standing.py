"""The state of a review request on the public page, shown only with the letter's code."""

import pytest
import time_machine
from django.utils import timezone

from notices.models import ReviewRequest
from tests.notices.conftest import done, drafted, send, step
from tests.notices.test_loop import finished, tell
from tests.notices.test_public_page import START, WRONG, _nothing_is_counted_yet, ask, code, letter, page, path, reader
from tests.notices.test_review_requests import reconsider

__all__ = ["_nothing_is_counted_yet", "letter", "reader"]
pytestmark = pytest.mark.django_db

REASON = "canary-7Qd4 She took it back by telephone."


def look(reader, notice, given: str = ""):
    """Enter the code on its page and return the response."""
    address = f"{path(notice)}/request"
    return reader.submit(address, code=given or code(notice))


def read(reader, notice) -> str:
    answer = look(reader, notice)
    assert answer.status_code == 200
    return answer.content.decode().replace("&#x27;", "'")


def test_the_person_can_follow_the_request_until_the_letter_arrives(api, letter, reader):
    notice = letter()
    with time_machine.travel(START, tick=False):
        ask(reader, notice, message="canary-message")
        received = read(reader, notice)
        assert f"R-{ReviewRequest.objects.get().pk}" in received
        assert "A person will look at the decision again." in received
        assert "January 1, 2030" in received
        answer = reconsider(api)
        answered = read(reader, notice)
        assert "A person has looked at the decision again" in answered
        assert "overturned" not in answered, "only the letter states the outcome"
        tell(api, answer)
        page_text = read(reader, notice)
        assert "has been delivered" in page_text
        assert "A person will look" not in page_text
    assert not [text for text in (received, answered, page_text) if "canary" in text.lower()]


def test_the_day_of_the_answer_is_shown_until_the_outcome_is_known(api, letter, reader):
    notice = letter()
    ask(reader, notice)
    ReviewRequest.objects.update(due_at="2030-02-01T23:59:59Z")
    assert "February 1, 2030" in read(reader, notice)
    tell(api, reconsider(api))
    assert "February 1, 2030" not in read(reader, notice)


def test_a_returned_letter_is_shown_as_on_its_way(api, letter, reader):
    notice = letter()
    ask(reader, notice)
    outcome_letter = finished(api, drafted(api, reconsider(api)["decision_id"]))
    delivery = done(step(api, outcome_letter, "deliveries", {"channel": "post"}))["delivery_id"]
    assert "has been delivered" in read(reader, notice)
    done(step(api, outcome_letter, f"deliveries/{delivery}/return", {"reason": "moved"}))
    assert "has been delivered" not in read(reader, notice)


def test_a_closed_request_says_so_and_not_why(api, letter, reader):
    notice = letter()
    ask(reader, notice)
    done(send(api, "POST", f"review-requests/{ReviewRequest.objects.get().pk}/close", {"reason": REASON}))
    text = read(reader, notice)
    assert "closed" in text
    assert "canary" not in text


def test_of_several_requests_the_newest_counts(api, letter, reader):
    notice = letter()
    ask(reader, notice)
    ReviewRequest.objects.update(closed_at=timezone.now(), closed_because=REASON)
    ask(reader, notice)
    first, second = ReviewRequest.objects.order_by("pk")
    text = read(reader, notice)
    assert f"R-{second.pk}" in text
    assert f"R-{first.pk}" not in text


def test_without_a_request_the_right_code_makes_none(letter, reader):
    notice = letter()
    answer = look(reader, notice)
    assert answer.status_code == 404
    assert "No review has been requested with this letter yet" in answer.content.decode()
    assert not ReviewRequest.objects.exists()


@pytest.mark.parametrize("asked", [True, False])
def test_without_the_code_a_request_cannot_be_detected(letter, reader, asked):
    """The pages are identical except for the form's token."""
    notices = letter(), letter(decision_id="loan-2")
    if asked:
        ask(reader, notices[0])
    shown = []
    for notice in notices:
        answer = look(reader, notice, WRONG)
        assert answer.status_code == 422
        texts = [page(reader, notice), reader.get(f"{path(notice)}/request").content.decode(), answer.content.decode()]
        shown.append([text.replace(notice.address, "").split('name="csrfmiddlewaretoken"')[0] for text in texts])
    assert shown[0][1:] == shown[1][1:]
    assert f"{path(notices[0])}/request" in page(reader, notices[0])
    assert "R-" not in page(reader, notices[0])


def test_wrong_codes_count_with_those_of_the_form_for_a_review(letter, reader):
    notice = letter()
    with time_machine.travel(START, tick=False):
        for _ in range(5):
            assert ask(reader, notice, right=False).status_code == 422
            assert look(reader, notice, WRONG).status_code == 422
        answer = look(reader, notice)
        assert (answer.status_code, answer["Retry-After"]) == (429, str(40 * 60 + 1))
        assert "Wait an hour" in answer.content.decode()


def test_a_withdrawn_letter_still_shows_the_state_of_its_request(api, letter, reader):
    notice = letter()
    ask(reader, notice)
    done(step(api, {"notice_id": notice.pk}, "withdraw", {"reason": "canary-reason"}))
    assert f'href="{path(notice)}/request"' in page(reader, notice)
    assert "A person will look at the decision again." in read(reader, notice)


def test_a_letter_without_review_has_no_such_page(letter, reader):
    notice = letter(human_review_available=False)
    assert "/request" not in page(reader, notice)
    assert reader.get(f"{path(notice)}/request")["Location"] == path(notice)


def test_an_unknown_letter_has_the_page_of_unknown_letters(reader, db):
    answer = reader.get("/n/aaaaaaaaaaaa/request")
    assert answer.status_code == 404
    assert answer.content == reader.get("/n/aaaaaaaaaaaa").content


@pytest.mark.parametrize(
    ("language", "says"), [("de", "Ein Mensch wird die Entscheidung noch einmal ansehen."), ("fr", "réexaminera")]
)
def test_the_state_is_in_the_letter_s_language(letter, reader, language, says):
    notice = letter(language)
    ask(reader, notice)
    text = read(reader, notice)
    assert says in text
    assert f'<html lang="{language}">' in text


@pytest.mark.once
def test_while_the_vault_is_away_the_page_says_that_the_service_is_down(letter, reader, filesystem_vault):
    notice = letter()
    ask(reader, notice)
    right, away = code(notice), filesystem_vault.with_suffix(".away")
    filesystem_vault.rename(away)
    answer = look(reader, notice, right)
    away.rename(filesystem_vault)
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "does not work at the moment" in answer.content.decode()
