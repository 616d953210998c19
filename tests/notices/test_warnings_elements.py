"""Elements that a pack needs but does not block on are warnings. A letter without a decision is a problem."""

import json
from datetime import UTC, datetime

import pytest
import time_machine

from notices import checklist
from notices.packs import packs
from notices.warnings import find
from tests.cases import each_case
from tests.notices.conftest import approve, done, drafted, exempt, shown, warnings_of
from tests.notices.drafts import EVERY, case, listed_problems, warned
from tests.notices.drafts import drafted as content_of
from tests.notices.drafts import warnings_of as found_in
from tests.notices.test_reasons import Words

DENIED = {"decision_id": "d", "outcome": {"action": "denied", "reasons": ["Your income is too low."]}}


def missing(record: dict, pack: str, **content: list) -> list[str]:
    return [warning.sentence for warning in warned("missing_element", found_in(record, pack, **content))]


def problems(record: dict, pack: str = "general", language: str = "en", **content: object) -> list[str]:
    return listed_problems(case(record, pack), content_of(record, pack, language) | content)


@each_case(("pack", "language"), EVERY)
def test_what_is_missing_blocks_or_warns_or_is_advice_and_never_two_of_these(pack, language):
    content = content_of(DENIED, pack, language)
    sentences = {warning.sentence for warning in warned("missing_element", find(case(DENIED, pack), content))}
    for item in checklist.check(case(DENIED, pack), Words(content)):
        is_told = any(sentence.startswith(f"{item.label}: ") for sentence in sentences)
        advice = packs()[pack].element(item.id).advice
        assert is_told is (item.result == "missing" and not item.blocks and not advice), item


def test_a_warning_names_the_law_at_the_place_of_the_missing_words():
    (warning,) = warned("missing_element", found_in({**DENIED, "outcome": {"action": "denied"}}))[:1]
    assert (warning.sentence, warning.where) == (
        "Says what the decision rested on: missing (Own policy).",
        "main_factors",
    )


def test_what_is_given_only_on_request_is_not_asked_for():
    for pack in packs().values():
        sentences = missing(DENIED, pack.id)
        for element in pack.elements:
            if element.when.on_request or element.advice:
                assert not [text for text in sentences if text.startswith(f"{pack.text('en').labels[element.id]}: ")]


@pytest.mark.parametrize(
    ("pack", "element"),
    [("gdpr_22", "variation"), ("ca_qc_12_1", "reasons_given_at_once"), ("general", "role_of_system")],
)
def test_good_practice_is_in_the_checklist_and_no_warning(pack, element):
    record = {"decision_id": "d", "outcome": {"action": "denied"}}
    results = {row.id: row.result for row in checklist.check(case(record, pack), Words(content_of(record, pack)))}
    assert results[element] == "missing"
    label = packs()[pack].text("en").labels[element]
    assert not [sentence for sentence in missing(record, pack) if sentence.startswith(label)]


def test_a_law_that_is_not_in_force_yet_warns_of_all_that_it_will_block():
    sentences = missing(DENIED, "eu_ai_act_86")
    assert any("Article 26(11)" in sentence for sentence in sentences)


def test_a_secret_in_the_place_of_a_reason_and_too_many_reasons_are_warned_about():
    statements = [{"statement": "How this works is a trade secret.", "source": "outcome.reasons.0"}]
    assert any("C-203/22" in sentence for sentence in missing(DENIED, "gdpr_22", main_factors=statements))
    record = {
        "decision_id": "d",
        "outcome": {"action": "denied", "reasons": [f"Late rent, home {n}." for n in range(5)]},
    }
    assert any("comment 9(b)(2)" in sentence and ": no " in sentence for sentence in missing(record, "us_ecoa_fcra"))


def test_an_unreadable_or_late_letter_warns():
    facts = case(DENIED, "us_co_admt")
    spanish = checklist.Case(facts.facts, facts.pack, facts.received_at, "es", facts.redaction, None, None)
    sentences = [warning.sentence for warning in find(spanish, content_of(DENIED, "us_co_admt"))]
    assert any("C.R.S. 6-1-1704(8)" in sentence for sentence in sentences)
    decided = {**DENIED, "decided_at": "2026-06-01T09:00:00Z"}
    with time_machine.travel(datetime(2026, 7, 15, tzinfo=UTC), tick=False):
        assert any("too late (12 CFR 1002.9(a)(1)(i))" in sentence for sentence in missing(decided, "us_ecoa_fcra"))
    with time_machine.travel(datetime(2026, 6, 5, tzinfo=UTC), tick=False):
        assert not any("too late" in sentence for sentence in missing(decided, "us_ecoa_fcra"))


@pytest.mark.django_db
def test_what_does_not_apply_is_no_warning_and_what_is_missing_is_one(api):
    api.ingest({"decision_id": "bare", "outcome": {"action": "denied"}})
    notice = drafted(api, "bare")
    assert len(notice["warnings"]) == 1
    done(exempt(api, notice, main_factors="We told them on the telephone."))
    assert shown(api, notice)["warnings"] == []
    other = drafted(api, "bare", pack="general")
    assert done(approve(api, other, acknowledge=warnings_of(api, other)))["state"] == "approved"


# ── the decision in the letter ──

UNDECIDED = [
    {},
    {"outcome": {}},
    {"outcome": {"action": None}},
    {"outcome": {"action": ""}},
    {"outcome": {"action": "NULL"}},
    {"outcome": {"action": "n/a"}},
    {"outcome": {"effective_date": "2026-11-02"}},
    {"outcome": {"reasons": ["Your income is too low."]}},
    {"decided_at": "2026-11-02T10:00:00Z"},
    {"reconsiders": {"decision_id": "c"}, "approval": {"authority": "appeals officer"}},
]


@each_case(("pack", "language"), EVERY)
def test_no_letter_is_approved_that_does_not_say_what_was_decided(pack, language):
    for record in UNDECIDED:
        sentences = problems({"decision_id": "d", **record}, pack, language)
        assert [sentence for sentence in sentences if "does not say what was decided" in sentence], record


@pytest.mark.parametrize(
    "outcome", [{"action": "denied"}, {"result": "upheld"}, {"action": "flurbled"}, {"granted": 5}]
)
def test_any_word_of_the_record_states_the_decision(outcome):
    assert not [text for text in problems({"decision_id": "d", "outcome": outcome}) if "what was decided" in text]


def test_the_decision_may_cite_any_field():
    record = {"decision_id": "d", "events": {"ruling": {"word": "no loan"}}}
    statements = [{"statement": "You do not get the loan.", "source": "events.ruling.word"}]
    assert not [problem for problem in problems(record, decision_summary=statements) if "what was decided" in problem]
    assert [problem for problem in problems(record, decision_summary=[]) if "what was decided" in problem]


def test_braces_in_a_record_s_own_words_are_no_placeholder_of_the_pack():
    record = json.loads(json.dumps(DENIED))
    record["events"] = {"form": {"note": "Dear {organization}, {contact}"}}
    unfilled = [text for text in problems(record, how_to_request_inputs="", rights=["x"]) if "still says" in text]
    assert unfilled == []
    statements = [{"statement": "Write to {contact}.", "source": "outcome.action"}]
    assert [text for text in problems(record, rights=["x"], decision_summary=statements) if "{contact}" in text]
    assert [text for text in problems(record, rights=["Write to {contact}."]) if "{contact}" in text]
