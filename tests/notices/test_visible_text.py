"""Texts that people must read need a visible letter or digit: invisible characters are no reason."""

import pytest

from accounts.models import Member
from accounts.roles import Role
from config.visible_text import is_visible
from notices import services
from notices.errors import MissingAuthority, MissingReason
from notices.wording.reasons import has_words, telling_words
from tests.cases import each_case
from tests.notices.conftest import acting, approve, done, edit, exempt, refused, send, shown, step, stored
from tests.notices.test_back_office import do
from tests.people import Browser

pytestmark = pytest.mark.django_db

BLANK = ["\u200b", "\u3164\u3164", "\u2800", "\u115f\u1160", "\u034f", "\uffa0", "\u00ad", "\ufeff", ".", "-", "…", "_"]
SOME = [BLANK[0], BLANK[2], BLANK[9]]
"""A zero-width character, a blank and a symbol, for inputs that share one check."""


def findings(notice: dict) -> list[str]:
    """Return the problems and warnings of a response, whether or not they block."""
    return [*notice["problems"], *(warning["sentence"] for warning in notice["warnings"])]


@each_case("text", [*BLANK, "", " \n", "👍", "\u200d\u200c"])
def test_text_without_a_letter_or_digit_is_not_visible(text):
    assert not is_visible(text)
    assert not has_words(text)
    assert not telling_words(text)


@each_case("text", ["No", "7", "否", "हाँ", "한", "R-1", "\u200bNo", "½"])
def test_letters_and_digits_of_every_script_are_visible(text):
    assert is_visible(text)


@each_case("text", ["Declined.", "Abgelehnt", "拒绝", "NO", "Credit limit: 5,000 EUR", "अस्वीकृत", "مرفوض"])
def test_a_sentence_has_a_word(text):
    assert has_words(text)


@each_case("text", ["x", "7", "A1", "n/a", "xx", "TBD", "0.5"])
def test_a_code_a_figure_or_a_sign_for_nothing_has_none(text):
    assert not has_words(text)


@pytest.fixture
def in_review(api, notice) -> dict:
    return done(step(api, notice, "submit"))


@each_case("text", SOME)
def test_invisible_text_is_no_reason_in_the_api(api, in_review, text):
    for answer in (
        exempt(api, in_review, inputs=text),
        step(api, in_review, "request-changes", {"reason": text}),
        send(api, "POST", "authority-grants", {"email": "a@b.c", "authority": text, "valid_from": "2026-01-01"}),
    ):
        assert answer.status_code == 422, answer.content
        assert answer.json()["detail"][0]["type"] == "value_error"
    assert shown(api, in_review)["state"] == "in_review"


def test_no_service_function_accepts_invisible_text(api, notice, organization, signed_in):
    browser, caller = signed_in(Role.OWNER), acting(organization, Role.OWNER, "")
    row = stored(api, notice)
    with pytest.raises(MissingReason):
        services.edit(caller=caller, notice=row, changes={}, not_applicable={"inputs": "\u200b"})
    with pytest.raises(MissingReason):
        services.request_changes(caller=caller, notice=row, reason="\u3164")
    member = Member.objects.for_organization(organization).first()
    with pytest.raises(MissingAuthority):
        services.grant_authority(caller=caller, member=member, authority="\u2800", valid_from="2026-01-01")
    done(step(api, notice, "submit"))
    assert do(browser, notice, "request-changes", reason="\u200b").status_code in (409, 422)


@pytest.fixture
def approver(signed_in) -> Browser:
    return signed_in(Role.APPROVER)


@each_case("text", SOME)
def test_an_invisible_name_or_authority_cannot_approve(api, notice, approver, text):
    assert "has to name" in refused(approve(api, notice, approver=text))
    assert "has to name" in refused(approve(api, notice, authority=text))
    assert "authority" in refused(step(approver, notice, "approve", {"authority": text}))


@each_case("text", SOME)
def test_an_invisible_title_or_sentence_is_a_problem(api, notice, text):
    item = {"statement": text, "source": "outcome.action"}
    for changes, problem in (
        ({"title": text}, "has no title"),
        ({"inputs_used": [item]}, "Statement 1 of inputs_used says nothing"),
        ({"decision_summary": [item]}, "does not say what was decided"),
    ):
        edited = done(edit(api, notice, **changes))
        assert any(problem in sentence for sentence in findings(edited)), (changes, findings(edited))


@each_case("text", ["x", "7", "n/a", "A1"])
def test_the_decision_needs_a_word(api, notice, text):
    edited = done(edit(api, notice, decision_summary=[{"statement": text, "source": "outcome.action"}]))
    assert any("does not say what was decided" in sentence for sentence in findings(edited))


@each_case("text", SOME)
def test_invisible_text_fills_no_placeholder_and_signs_nothing(api, text):
    body = {"default_pack": "general", "placeholders": {"contact": text}, "signatory": {"name": text}}
    assert done(send(api, "PUT", "notice-settings", body))["signatory"] == {}
    names = services.previewing.selectors.placeholders_of(api.organization)
    assert names["contact"] == api.organization.name
