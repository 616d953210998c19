"""Contradictions in a record and unknown words: the letter states one value, and the approver is warned."""

from itertools import product

import pytest

from notices.packs import conditions, packs
from tests.cases import each_case
from tests.notices.drafts import EVERY, warned, warnings_of
from tests.notices.test_outcomes_and_flags import spellings


def contradictions(record: dict, pack: str = "general", **content: object) -> list[str]:
    return [
        row.sentence for row in warned("contradiction", warnings_of({"decision_id": "d", **record}, pack, **content))
    ]


@pytest.mark.parametrize("flag", ["solely_automated", "sole_factor"])
def test_a_system_that_decided_alone_influenced_the_decision(flag):
    assert (
        len(contradictions({"outcome": {"action": "denied", flag: True, "materially_influenced_by_system": False}}))
        == 1
    )
    for other in (True, None):
        outcome = {"action": "denied", flag: True, "materially_influenced_by_system": other}
        assert contradictions({"outcome": outcome}) == []


def denied(record: dict, pack: str) -> list:
    return warned("consumer_report_denied", warnings_of({"decision_id": "d", **record}, pack))


@pytest.mark.parametrize("events", [{"bureauPull": {"agency": "A"}}, [{"name": "credit report", "score": 600}]])
def test_a_report_in_the_record_that_is_declared_unused(events):
    record = {"events": events, "outcome": {"action": "denied", "consumer_report_used": False}}
    assert len(denied(record, "us_ecoa_fcra")) == 1
    assert denied(record, "gdpr_22") == []
    record["outcome"]["consumer_report_used"] = True
    assert denied(record, "us_ecoa_fcra") == []


def test_a_review_that_the_record_refuses_and_the_letter_offers():
    record = {"outcome": {"action": "denied", "solely_automated": True, "review": {"available": False}}}
    (sentence,) = contradictions(record, "ca_qc_12_1")
    assert "outcome.review.available is false" in sentence
    assert contradictions(record, "general") == []
    (sentence,) = contradictions(record, "general", human_review_available=True)
    assert "offers a review" in sentence


@each_case(("pack", "language"), EVERY)
def test_odd_shapes_contradict_nothing(pack, language):
    outcomes = (None, "denied", [], ["denied"], 7, {"principal_factors": 7}, {"principal_factors": [7, None]})
    for turn, outcome in enumerate(outcomes, start=EVERY.index((pack, language))):
        events = (None, "x", [], [7], {"bureau": None})[turn % 5]
        record = {"decision_id": "d", "outcome": outcome, "events": events}
        assert warned("contradiction", warnings_of(record, pack, language)) == []


# ── words that select a pack's elements ──


def unknown(record: dict, pack: str) -> list[str]:
    return [warning.sentence for warning in warned("unknown_value", warnings_of({"decision_id": "d", **record}, pack))]


@each_case("pack", packs())
def test_a_condition_holds_for_its_word_in_any_spelling(pack):
    for part in (*packs()[pack].elements, *packs()[pack].clocks, *packs()[pack].locked):
        for condition in part.when.conditions:
            if condition.negated or condition.subject != "record":
                continue
            for path, word in product(condition.paths, filter(_is_text, condition.values)):
                for spelled in spellings(word):
                    assert condition.holds({path: spelled}.get, {}), (condition, spelled)
                assert not condition.holds({path: "something else"}.get, {})


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def test_numbers_and_flags_are_compared_as_they_are():
    assert not conditions.parse("if record x is 1").holds({"x": "1"}.get)
    assert not conditions.parse('if record x is "1"').holds({"x": 1}.get)
    assert not conditions.parse('if record x is "true"').holds({"x": True}.get)


@pytest.mark.parametrize("value", ["pondering", 7, ["pre_service"], True])
def test_an_unknown_kind_of_claim_is_warned_about(value):
    record = {"decision_id": "d", "outcome": {"action": "denied", "claim_type": value}}
    (warning,) = warned("unknown_kind", warnings_of(record, "us_health_denial"))
    assert "outcome.claim_type" in warning.sentence


@pytest.mark.parametrize("value", ["employer", "Medicare Advantage", "INDIVIDUAL", " employer "])
def test_a_known_value_is_not_warned_about(value):
    assert unknown({"subject": {"plan_type": value}, "outcome": {"action": "denied"}}, "us_health_denial") == []


def test_a_field_that_decides_which_rules_hold_is_asked_for():
    sentences = [warning.sentence for warning in warnings_of({"outcome": {"action": "denied"}}, "us_health_denial")]
    (plan,) = [sentence for sentence in sentences if "subject.plan_type" in sentence]
    assert "does not say what kind of plan this is" in plan
    assert unknown({"outcome": {"action": "denied"}}, "gdpr_22") == []


def test_a_ground_unknown_to_article_22_is_warned_about():
    outcome = {"action": "denied", "solely_automated": True}
    assert len(unknown({"outcome": outcome | {"legal_basis": "legitimate interest"}}, "gdpr_22")) == 1
    for known in ("Contract", "explicit consent", "EXPLICIT_CONSENT", "law"):
        assert unknown({"outcome": outcome | {"legal_basis": known}}, "gdpr_22") == []


def test_a_place_that_no_rule_names_is_a_place_all_the_same():
    subject = {"plan_type": "employer", "jurisdiction": "US-NY"}
    assert unknown({"subject": subject, "outcome": {"action": "denied"}}, "us_health_denial") == []
