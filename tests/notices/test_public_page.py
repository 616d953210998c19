"""The public page of a letter, and the review request that its reader sends."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
import time_machine
from django.core.cache import cache
from django.utils import translation

from notices import selectors
from notices.models import Notice, ReviewRequest
from notices.public.forms import CodeForm
from notices.public.html_digest import html_digest
from tests.notices.conftest import RECORD, approve, approve_as_listed, done, drafted, edit, step, stored
from tests.people import Browser
from tests.support.kept_rows import make_once

pytestmark = pytest.mark.django_db

START = datetime(2030, 1, 1, 12, 20, tzinfo=UTC)
RECIPIENT = {"name": "Avery Canary", "email": "avery@canary.example", "reference": "canary-ref"}
REVIEW = {"human_review_available": True, "how_to_request_review": "Write to us."}
WRONG = "AAAA-AAAA"
TITLES = {
    "en": "Is this letter genuine?",
    "de": "Ist dieser Brief echt?",
    "fr": "Cette lettre est-elle authentique ?",
}


@pytest.fixture(autouse=True)
def _nothing_is_counted_yet():
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def letter(api):
    """Make an approved notice whose letter offers a review, and return its row."""

    def make(language: str = "en", decision_id: str = "loan-1", **content) -> Notice:
        api.ingest({**RECORD, "decision_id": decision_id})
        draft = drafted(api, decision_id, recipient={**RECIPIENT, "language": language})
        edited = done(edit(api, draft, **{**REVIEW, **content}))
        return stored(api, done(approve_as_listed(api, edited, comment="canary-comment")))

    return lambda *chosen, **content: make_once(f"letter {chosen} {content}", lambda: make(*chosen, **content))


@pytest.fixture
def reader() -> Browser:
    """Return a browser that knows nothing but the letter."""
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


# ── contents of the page ──


def test_the_page_confirms_the_letter_and_shows_no_personal_data(letter, reader):
    notice = letter()
    text = page(reader, notice)
    for passage in ("Example Bank", "In force", "English", notice.sealed.letter_digest, notice.sealed.record.key_id):
        assert passage in text
    assert notice.approval.revision.content["framework"] in text
    for private in ("canary", "Avery", "loan-1", "Reviewer 7", "credit officer", "0.92", code(notice)):
        assert private not in text


def test_the_day_of_approval_is_in_the_letter_s_language(letter, reader):
    for language, day in {"en": "January 1, 2030", "de": "1. Januar 2030", "fr": "1er janvier 2030"}.items():
        with time_machine.travel(START, tick=False):
            notice = letter(language, f"loan-{language}")
        text = page(reader, notice)
        assert day in text
        assert f'<html lang="{language}">' in text
        assert TITLES[language] in text


def test_a_withdrawn_letter_says_so_and_takes_no_request(api, letter, reader):
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


def test_the_html_digest_reveals_nothing_and_outlives_withdrawal(api, letter, reader):
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
    for passage in ("In force", "Approved on", notice.sealed.letter_digest, "html_digest", "<script"):
        assert passage not in text
    assert "<form" in text, "a review can still be asked for"


@pytest.mark.once
def test_the_page_confirms_nothing_of_a_letter_that_cannot_be_read(letter, reader, filesystem_vault):
    notice = letter()
    filesystem_vault.rename(filesystem_vault.with_suffix(".away"))
    assert_confirms_nothing(reader, notice, 503)
    filesystem_vault.with_suffix(".away").rename(filesystem_vault)
    assert "In force" in page(reader, notice)
    for file in filesystem_vault.rglob(notice.sealed.pk.hex):
        file.unlink()
    assert_confirms_nothing(reader, notice, 500)


@pytest.mark.once
def test_a_withdrawn_letter_says_so_even_if_it_cannot_be_read(api, letter, reader, filesystem_vault):
    notice = letter()
    done(step(api, {"notice_id": notice.pk}, "withdraw", {"reason": "wrong"}))
    for file in filesystem_vault.rglob(notice.sealed.pk.hex):
        file.unlink()
    assert "Withdrawn" in reader.get(path(notice)).content.decode()


def test_a_request_for_review_is_one_step_from_the_top(letter, reader):
    offered, without = page(reader, letter()), page(reader, letter(decision_id="x", human_review_available=False))
    assert offered.index('href="#ask"') < offered.index('id="state"') < offered.index('id="ask"')
    assert "#ask" not in without


def test_a_replaced_letter_says_so(api, letter, reader):
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
def test_no_page_is_stored_indexed_framed_or_sent_as_referrer(letter, reader, known):
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


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_the_example_code_is_a_valid_code(language):
    with translation.override(language):
        [code] = re.findall(r"\w{4}-\w{4}", str(CodeForm.base_fields["code"].help_text))
    assert re.fullmatch(r"[A-Z2-7]{4}-[A-Z2-7]{4}", code)
