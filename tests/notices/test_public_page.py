"""The public page of a letter: what it tells whoever has the letter, and the request for a review that they send."""

import re
import tomllib
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core.cache import cache

from accounts.models import AuditEvent
from notices import selectors
from notices.models import Notice, ReviewRequest
from notices.public import labels
from notices.public.html_digest import html_digest
from notices.services import acknowledge_requests
from tests.notices.conftest import RECORD, approve, done, drafted, edit, fill_in_names, step, stored, taken_sample
from tests.people import Browser
from tests.system.live import CHECKOUT

pytestmark = pytest.mark.django_db

START = datetime(2030, 1, 1, 12, 20, tzinfo=UTC)
RECIPIENT = {"name": "Avery Canary", "email": "avery@canary.example", "reference": "canary-ref"}
REVIEW = {"human_review_available": True, "how_to_request_review": "Write to us."}
WRONG = "AAAA-AAAA"


@pytest.fixture(autouse=True)
def _nothing_is_counted_yet():
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def letter(api):
    """Makes an approved notice whose letter offers a review, and gives its row."""

    def make(language: str = "en", decision_id: str = "loan-1", **content) -> Notice:
        api.ingest({**RECORD, "decision_id": decision_id})
        draft = drafted(api, decision_id, recipient={**RECIPIENT, "language": language})
        done(edit(api, draft, **{**REVIEW, **content}))
        return stored(api, done(approve(api, draft, comment="canary-comment")))

    return make


@pytest.fixture
def reader() -> Browser:
    """Somebody who has the letter and nothing else."""
    return Browser(REMOTE_ADDR="192.0.2.1")


def path(notice: Notice) -> str:
    return f"/n/{notice.address}"


def code(notice: Notice) -> str:
    return selectors.letter(notice).review_code


def page(reader: Browser, notice: Notice) -> str:
    answer = reader.get(path(notice))
    assert answer.status_code == 200
    return answer.content.decode()


def ask(reader: Browser, notice: Notice, right: bool = True, **fields: str):
    return reader.submit(path(notice), **{"code": code(notice) if right else WRONG, **fields})


# ── what the page tells ──


def test_it_confirms_the_letter_and_says_nothing_of_the_person(letter, reader):
    notice = letter()
    text = page(reader, notice)
    for told in ("Example Bank", "In force", "English", notice.sealed.letter_digest, notice.sealed.record.key_id):
        assert told in text
    assert notice.approval.revision.content["framework"] in text
    for private in ("canary", "Avery", "loan-1", "Reviewer 7", "credit officer", "0.92", code(notice)):
        assert private not in text


def test_it_says_which_day_the_letter_was_approved_in_the_words_of_its_language(letter, reader):
    for language, day in {"en": "January 1, 2030", "de": "1. Januar 2030", "fr": "1er janvier 2030"}.items():
        with time_machine.travel(START, tick=False):
            notice = letter(language, f"loan-{language}")
        text = page(reader, notice)
        assert day in text
        assert f'<html lang="{language}">' in text
        assert labels.words(language)["title"] in text.replace("&#x27;", "'")


def test_a_letter_that_was_taken_back_says_so_and_takes_no_request(api, letter, reader):
    notice = letter()
    right = code(notice)
    token = reader.csrf_token(path(notice))
    done(step(api, {"notice_id": notice.pk}, "withdraw", {"reason": "canary-reason"}))
    text = page(reader, notice)
    assert "Withdrawn" in text
    assert "In force" not in text
    assert "canary" not in text
    assert "<form" not in text
    answer = reader.post(path(notice), {"code": right, "csrfmiddlewaretoken": token})
    assert answer.status_code == 409
    assert not ReviewRequest.objects.exists()


def shown_digest(reader: Browser, notice: Notice) -> str:
    return re.search(r'"html_digest": "(\w*)"', page(reader, notice)).group(1)


def test_the_digest_of_the_html_file_tells_nothing_of_the_person_and_outlives_withdrawal(api, letter, reader):
    notice = letter()
    shown = shown_digest(reader, notice)
    written = selectors.letter(notice)
    somebody_else = {"name": "Blake", "address": ["Elsewhere"], "reference": "another"}
    assert html_digest(replace(written, recipient=somebody_else, review_code="AAAA-AAAA")) == shown
    assert html_digest(replace(written, organization="Another Bank")) != shown
    done(step(api, {"notice_id": notice.pk}, "withdraw", {"reason": "wrong"}))
    assert shown_digest(reader, notice) == shown


def assert_confirms_nothing(reader: Browser, notice: Notice, status: int):
    answer = reader.get(path(notice))
    text = answer.content.decode()
    assert (answer.status_code, answer.get("Retry-After")) == (status, "5" if status == 503 else None)
    assert "Cannot be checked at the moment" in text
    for told in ("In force", "Approved on", notice.sealed.letter_digest, "html_digest", "<script"):
        assert told not in text
    assert "<form" in text, "a review can still be asked for"


def test_the_page_confirms_nothing_of_a_letter_that_cannot_be_read(letter, reader, filesystem_vault):
    notice = letter()
    filesystem_vault.rename(filesystem_vault.with_suffix(".away"))
    assert_confirms_nothing(reader, notice, 503)
    filesystem_vault.with_suffix(".away").rename(filesystem_vault)
    assert "In force" in page(reader, notice)
    for file in filesystem_vault.rglob(notice.sealed.pk.hex):
        file.unlink()
    assert_confirms_nothing(reader, notice, 500)


def test_a_letter_that_was_taken_back_says_so_even_if_it_cannot_be_read(api, letter, reader, filesystem_vault):
    notice = letter()
    done(step(api, {"notice_id": notice.pk}, "withdraw", {"reason": "wrong"}))
    for file in filesystem_vault.rglob(notice.sealed.pk.hex):
        file.unlink()
    assert "Withdrawn" in reader.get(path(notice)).content.decode()


def test_a_request_for_review_is_one_step_from_the_top(letter, reader):
    offered, without = page(reader, letter()), page(reader, letter(decision_id="x", human_review_available=False))
    assert offered.index('href="#ask"') < offered.index('id="state"') < offered.index('id="ask"')
    assert "#ask" not in without


def test_a_letter_in_whose_place_another_came_says_so(api, letter, reader):
    notice = letter()
    newer = done(step(api, {"notice_id": notice.pk}, "versions"))
    assert "In force" in page(reader, notice)
    done(approve(api, newer))
    assert "A newer letter has taken the place of this one" in page(reader, notice)
    assert stored(api, newer).address not in page(reader, notice)
    assert "In force" in page(reader, stored(api, newer))


def test_a_letter_without_review_has_no_form(letter, reader):
    text = page(reader, letter(human_review_available=False))
    assert "<form" not in text
    assert "Code from your letter" not in text


def test_an_unknown_address_and_that_of_a_draft_get_the_same_page_in_three_languages(api, reader):
    api.ingest(RECORD)
    draft = stored(api, drafted(api))
    answers = [reader.get(path) for path in ("/n/aaaaaaaaaaaa", f"/n/{draft.address}", "/n/x", "/n/%00")]
    assert [answer.status_code for answer in answers] == [404] * 4
    assert len({answer.content for answer in answers}) == 1
    text = answers[0].content.decode()
    assert "There is no letter at this address" in text
    assert 'lang="de"' in text
    assert 'lang="fr"' in text


def test_an_address_may_be_typed_in_capitals(letter, reader):
    assert reader.get(path(letter()).upper().replace("/N/", "/n/")).status_code == 200


@pytest.mark.parametrize("known", [True, False])
def test_no_page_is_stored_indexed_framed_or_told_to_other_sites(letter, reader, known):
    answer = reader.get(path(letter()) if known else "/n/aaaaaaaaaaaa")
    assert "no-store" in answer["Cache-Control"]
    assert answer["X-Robots-Tag"] == "noindex, nofollow"
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer["X-Frame-Options"] == "DENY"
    assert '<meta name="robots" content="noindex, nofollow">' in answer.content.decode()
    policy = dict(rule.split(" ", 1) for rule in answer["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert "connect-src" not in policy, "nothing may be sent or fetched by a script"


def test_visiting_the_page_makes_no_session(letter, reader):
    page(reader, letter())
    assert set(reader.cookies) == {"csrftoken"}


def test_the_three_languages_say_the_same_things():
    said = {file.stem: tomllib.loads(file.read_text()) for file in CHECKOUT.glob("notices/public/*.toml")}
    assert set(said) == {"en", "de", "fr"}
    assert list(said["en"]) == list(said["de"]) == list(said["fr"])


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_the_code_shown_as_an_example_is_one_that_a_letter_can_have(language):
    [code] = re.findall(r"\w{4}-\w{4}", labels.words(language)["ask_code_help"])
    assert re.fullmatch(r"[A-Z2-7]{4}-[A-Z2-7]{4}", code)


def test_every_word_is_used_and_every_word_that_is_used_is_there():
    sources = [
        *CHECKOUT.glob("templates/notices/public_*.html"),
        *CHECKOUT.glob("notices/public/*.py"),
        *CHECKOUT.glob("notices/services/*.py"),  # subjects of mails
    ]
    text = "".join(source.read_text() for source in sources)
    used = set(re.findall(r"words\.(\w+) *}}", text)) | set(re.findall(r'sentences\["(\w+)"\]', text))
    used |= set(re.findall(r'subject=subject\("(\w+)"', text))
    used |= set(re.findall(r'words\["(\w+)"\]', text)) | {
        f"ask_{name}{suffix}" for name in ("code", "message", "email") for suffix in ("", "_help")
    }
    assert used == set(labels.words("en"))


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


def test_the_day_of_the_answer_is_told_where_a_law_sets_one(api, reader):
    fill_in_names(api, "gdpr_22")
    notice = stored(api, done(approve(api, drafted(api, taken_sample(api, "synthetic-insurance-03")))))
    with time_machine.travel(START, tick=False):
        text = ask(reader, notice).content.decode()
    assert "Answer due by" in text
    assert "1 February 2030" in text


def test_a_second_request_while_the_first_is_open_is_told_that_it_adds_nothing(letter, reader):
    notice = letter()
    ask(reader, notice, message="First.")
    text = ask(reader, notice, message="Second.", email="me@home.example").content.decode()
    assert "You asked already" in text
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
    ("fields", "told"),
    [
        ({"code": " "}, "Geben Sie den Code aus Ihrem Brief ein."),
        ({"email": "nobody"}, "Das sieht nicht wie eine E-Mail-Adresse aus."),
        ({"message": "x" * 4001}, "höchstens 4000 Zeichen"),
        ({"message": "a\0b"}, "Nullzeichen"),
    ],
)
def test_what_cannot_be_taken_is_told_in_the_letters_language(letter, reader, fields, told):
    answer = ask(reader, letter("de"), **fields)
    assert answer.status_code == 422
    assert told in answer.content.decode()
    assert not ReviewRequest.objects.exists()


def test_a_line_break_counts_once(letter, reader):
    assert ask(reader, letter(), message="x\r\n" * 2000).status_code == 200


def test_without_the_token_of_the_page_nothing_is_taken(letter, reader):
    notice = letter()
    assert reader.post(path(notice), {"code": code(notice)}).status_code == 403
    assert not ReviewRequest.objects.exists()


def test_while_the_vault_is_away_the_message_stays_in_the_form_and_no_try_is_lost(letter, reader, filesystem_vault):
    notice = letter()
    right, away = code(notice), filesystem_vault.with_suffix(".away")
    with time_machine.travel(START, tick=False):
        filesystem_vault.rename(away)
        answers = [reader.submit(path(notice), code=right, message="Look again.") for _ in range(12)]
        away.rename(filesystem_vault)
        assert {(answer.status_code, answer["Retry-After"]) for answer in answers} == {(503, "5")}
        assert "Look again." in answers[-1].content.decode()
        assert "the service does not work at the moment" in answers[-1].content.decode()
        assert ask(reader, notice).status_code == 200


# ── limits ──


def test_a_letters_code_can_be_guessed_ten_times_an_hour_and_then_even_the_right_one_waits(letter, reader):
    notice, other = letter(), letter(decision_id="loan-2")
    with time_machine.travel(START, tick=False):
        assert [ask(reader, notice, right=False).status_code for _ in range(11)] == [422] * 10 + [429]
        answer = ask(reader, notice, message="Kept.")
        assert (answer.status_code, answer["Retry-After"]) == (429, str(40 * 60 + 1))
        assert "Kept." in answer.content.decode()
        assert ask(reader, other).status_code == 200, "another letter is not concerned"
    with time_machine.travel(START + timedelta(minutes=40), tick=False):
        assert ask(reader, notice).status_code == 200


def test_from_one_address_thirty_codes_are_guessed_an_hour(letter, reader):
    notices = [letter(decision_id=f"loan-{number}") for number in range(4)]
    with time_machine.travel(START, tick=False):
        guessed = [ask(reader, notice, right=False).status_code for notice in notices[:3] for _ in range(10)]
        assert set(guessed) == {422}
        assert ask(reader, notices[3]).status_code == 429
        elsewhere = Browser(REMOTE_ADDR="192.0.2.2")
        assert ask(elsewhere, notices[3]).status_code == 200


def test_the_addresses_of_an_ipv6_network_guess_together(letter):
    notices = [letter(decision_id=f"loan-{number}") for number in range(4)]
    with time_machine.travel(START, tick=False):
        for number in range(30):
            guessing = Browser(REMOTE_ADDR=f"2001:db8:1:2::{number:x}")
            assert ask(guessing, notices[number // 10], right=False).status_code == 422
        assert ask(Browser(REMOTE_ADDR="2001:db8:1:2:ffff::"), notices[3]).status_code == 429
        assert ask(Browser(REMOTE_ADDR="2001:db8:1:3::"), notices[3]).status_code == 200


def test_whoever_may_not_guess_any_more_uses_up_no_letter(letter, reader):
    notices = [letter(decision_id=f"loan-{number}") for number in range(4)]
    with time_machine.travel(START, tick=False):
        for notice in notices:
            assert {ask(reader, notice, right=False).status_code for _ in range(10)} <= {422, 429}
        assert ask(Browser(REMOTE_ADDR="192.0.2.2"), notices[3]).status_code == 200


def test_right_codes_and_unfinished_forms_are_not_counted(letter, reader):
    notice = letter()
    with time_machine.travel(START, tick=False):
        assert {ask(reader, notice).status_code for _ in range(12)} == {200}
        assert {ask(reader, notice, code="").status_code for _ in range(12)} == {422}
        assert ask(reader, notice, right=False).status_code == 422


# ── what is private stays so ──


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
