"""Review requests on the public page of a letter: who can send one, and what follows."""

from datetime import timedelta

import pytest
import time_machine

from accounts.models import AuditEvent
from notices.models import ReviewRequest
from notices.services import acknowledge_requests
from tests.notices.conftest import approve, done, drafted, fill_in_names, ingest_sample, stored
from tests.notices.test_public_page import START, WRONG, _nothing_is_counted_yet, ask, code, letter, path, reader
from tests.people import Browser

__all__ = ["_nothing_is_counted_yet", "letter", "reader"]
pytestmark = pytest.mark.django_db


# ── the request for a review ──


def test_a_request_reaches_the_queue_and_the_person_learns_its_number_and_day(letter, reader):
    notice = letter()
    with time_machine.travel(START, tick=False):
        answer = ask(reader, notice, message="Look again.\r\nPlease.", email="me@home.example")
    (row,) = ReviewRequest.objects.all()
    assert (row.notice, row.message, row.email) == (notice, "Look again.\nPlease.", "me@home.example")
    text = answer.content.decode()
    assert answer.status_code == 200
    assert f"R-{row.pk}" in text
    assert "January 1, 2030" in text
    assert "An acknowledgement will be sent" in text
    assert "Look again" not in text
    assert AuditEvent.objects.filter(verb="review.requested").count() == 1


def test_code_alone_is_enough_and_may_be_typed_in_any_way(letter, reader):
    notice = letter()
    answer = reader.submit(path(notice), code=f" {code(notice).lower().replace('-', ' ')} ")
    assert answer.status_code == 200
    assert ReviewRequest.objects.count() == 1
    assert "An acknowledgement" not in answer.content.decode()


def test_the_day_of_the_answer_is_shown_where_a_law_sets_one(api, reader):
    fill_in_names(api, "gdpr_22")
    notice = stored(api, done(approve(api, drafted(api, ingest_sample(api, "synthetic-insurance-03")))))
    with time_machine.travel(START, tick=False):
        text = ask(reader, notice).content.decode()
    assert "Answer due by" in text
    assert "1 February 2030" in text


def test_a_second_request_while_the_first_is_open_adds_nothing_and_says_so(letter, reader):
    notice = letter()
    ask(reader, notice, message="First.")
    text = ask(reader, notice, message="Second.", email="me@home.example").content.decode()
    assert "You have already asked" in text
    assert f"R-{ReviewRequest.objects.get().pk}" in text
    assert "An acknowledgement" not in text


def test_a_wrong_code_says_so_and_loses_nothing_that_was_typed(letter, reader):
    notice = letter("de")
    answer = ask(reader, notice, right=False, message="Meine <Gründe>", email="me@home.example")
    assert answer.status_code == 422
    text = answer.content.decode()
    assert "Das ist nicht der Code dieses Briefs." in text
    assert "Meine &lt;Gründe&gt;" in text
    assert "me@home.example" in text
    assert not ReviewRequest.objects.exists()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"code": " "}, "Geben Sie den Code aus Ihrem Brief ein."),
        ({"email": "no-address"}, "Das sieht nicht wie eine E-Mail-Adresse aus."),
        ({"message": "x" * 4001}, "höchstens 4000 Zeichen"),
        ({"message": "a\0b"}, "Nullzeichen"),
    ],
)
def test_errors_are_in_the_letter_s_language(letter, reader, fields, message):
    answer = ask(reader, letter("de"), **fields)
    assert answer.status_code == 422
    assert message in answer.content.decode()
    assert not ReviewRequest.objects.exists()


def test_a_line_break_counts_once(letter, reader):
    assert ask(reader, letter(), message="x\r\n" * 2000).status_code == 200


def test_without_the_token_of_the_page_nothing_is_taken(letter, reader):
    notice = letter()
    assert reader.post(path(notice), {"code": code(notice)}).status_code == 403
    assert not ReviewRequest.objects.exists()


@pytest.mark.once
def test_while_the_vault_is_away_the_message_stays_in_the_form_and_no_try_is_lost(letter, reader, filesystem_vault):
    notice = letter()
    right, away = code(notice), filesystem_vault.with_suffix(".away")
    with time_machine.travel(START, tick=False):
        filesystem_vault.rename(away)
        answers = [reader.submit(path(notice), code=right, message="Look again.") for _ in range(12)]
        away.rename(filesystem_vault)
        assert {(answer.status_code, answer["Retry-After"]) for answer in answers} == {(503, "5")}
        assert "Look again." in answers[-1].content.decode()
        assert "The service does not work at the moment" in answers[-1].content.decode()
        assert ask(reader, notice).status_code == 200


# ── limits ──


def guess(reader: Browser, notice, times: int = 10, code: str = WRONG) -> list[int]:
    """Send a code `times` times from one opened page, and return the status codes."""
    entered = {"code": code, "csrfmiddlewaretoken": reader.csrf_token(path(notice))}
    return [reader.post(path(notice), entered).status_code for _ in range(times)]


def test_a_letters_code_can_be_guessed_ten_times_an_hour_and_then_even_the_right_one_waits(letter, reader):
    notice, other = letter(), letter(decision_id="loan-2")
    with time_machine.travel(START, tick=False):
        assert guess(reader, notice, 11) == [422] * 10 + [429]
        answer = ask(reader, notice, message="Kept.")
        assert (answer.status_code, answer["Retry-After"]) == (429, str(40 * 60 + 1))
        assert "Kept." in answer.content.decode()
        assert ask(reader, other).status_code == 200, "another letter is not concerned"
    with time_machine.travel(START + timedelta(minutes=40), tick=False):
        assert ask(reader, notice).status_code == 200


def test_from_one_address_thirty_codes_are_guessed_an_hour_and_more_use_up_no_letter(letter, reader):
    notices = [letter(decision_id=f"loan-{number}") for number in range(4)]
    with time_machine.travel(START, tick=False):
        assert [guess(reader, notice) for notice in notices] == [[422] * 10] * 3 + [[429] * 10]
        assert ask(reader, notices[3]).status_code == 429
        elsewhere = Browser(REMOTE_ADDR="192.0.2.2")
        assert ask(elsewhere, notices[3]).status_code == 200


def test_the_addresses_of_an_ipv6_network_guess_together(letter):
    notices = [letter(decision_id=f"loan-{number}") for number in range(4)]
    guessing = Browser()
    entered = {"code": WRONG, "csrfmiddlewaretoken": guessing.csrf_token(path(notices[0]))}
    with time_machine.travel(START, tick=False):
        for number in range(30):
            guessing.defaults["REMOTE_ADDR"] = f"2001:db8:1:2::{number:x}"
            assert guessing.post(path(notices[number // 10]), entered).status_code == 422
        assert ask(Browser(REMOTE_ADDR="2001:db8:1:2:ffff::"), notices[3]).status_code == 429
        assert ask(Browser(REMOTE_ADDR="2001:db8:1:3::"), notices[3]).status_code == 200


def test_right_codes_and_unfinished_forms_are_not_counted(letter, reader):
    notice = letter()
    with time_machine.travel(START, tick=False):
        assert guess(reader, notice, 11, code(notice)) == [200] * 11
        assert guess(reader, notice, 11, "") == [422] * 11
        assert guess(reader, notice, 1) == [422]


# ── privacy ──


def test_code_and_message_are_in_no_log_and_no_audit_event(letter, reader, capfd, mailoutbox):
    notice = letter()
    right = code(notice)
    ask(reader, notice, right=False, message="canary-message", email="canary@mail.example")
    ask(reader, notice, message="canary-message", email="canary@mail.example")
    acknowledge_requests()
    logged = "".join(capfd.readouterr())
    trail = str(list(AuditEvent.objects.values()))
    assert '"route": "n/<str:address>"' in logged
    for private in (right, WRONG, "canary-message", "canary@mail.example", notice.address):
        assert private not in logged
        assert private not in trail


@pytest.mark.parametrize(
    ("language", "day"), [("en", "January 1, 2030"), ("de", "1. Januar 2030"), ("fr", "1er janvier 2030")]
)
def test_the_acknowledgement_is_in_the_letters_language(letter, reader, mailoutbox, language, day):
    notice = letter(language)
    with time_machine.travel(START, tick=False):
        ask(reader, notice, message="canary-message", email="me@home.example")
        assert acknowledge_requests() == 1
    (mail,) = mailoutbox
    for text in (mail.body, mail.alternatives[0].content):
        assert f"R-{ReviewRequest.objects.get().pk}" in text
        assert day in text
        assert path(notice) in text
        assert "canary" not in text
