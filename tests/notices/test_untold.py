# ruff: noqa: RUF001 - real dashes and apostrophes
"""Fields under `outcome` are never lost silently: each is printed, withheld, or listed as left out."""

import json
import tomllib
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from accounts.roles import Role
from notices import checklist, outcome_parts, untold
from notices.drafting import redaction_of
from notices.packs import packs
from notices.phrasebook import Phrase, Phrasebook
from notices.record_paths import Facts
from tests.cases import each_case
from tests.notices.conftest import approve, done, drafted, edit, refused
from tests.notices.drafts import (
    EVERY,
    LANGUAGES,
    case,
    checked_draft,
    factors,
    listed_problems,
    statement_texts,
    warnings_of,
)
from tests.notices.drafts import drafted as content_of
from tests.notices.test_drafting_any_record import RECORDS

TABLE = tomllib.loads(Path(outcome_parts.__file__).with_suffix(".toml").read_text("utf-8"))
SPELLINGS = [str.upper, str.title, lambda name: name.replace(" ", "_"), lambda name: name.replace(" ", "-"),
             lambda name: name[0] + name.title().replace(" ", "")[1:]]  # fmt: skip
CONTAINERS = ["reasons", "principal_factors", "adverse_action_reasons", "denialReasons"]
WORDS = "The debts are too high."


def untold_in(outcome: dict, content: dict | None = None, *phrases: Phrase, pack: str = "general") -> dict[str, str]:
    record = {"decision_id": "d", "outcome": outcome}
    checked, made = checked_draft(record, pack, "en", *phrases)
    fields = checklist.untold_fields(checked, made if content is None else content)
    return {field.path.removeprefix("outcome."): field.kind for field in fields}


def problems_of(outcome: dict, content: dict | None = None, *phrases: Phrase) -> list[str]:
    record = {"decision_id": "d", "outcome": outcome}
    checked, made = checked_draft(record, "general", "en", *phrases)
    problems = listed_problems(checked, made if content is None else content)
    return [problem for problem in problems if "no statement tells it" in problem]


# ── reasons in any shape ──


@each_case(("turn", "key"), enumerate([*TABLE["names"]["prose"], *TABLE["names"]["name"]]))
def test_a_reason_is_printed_whatever_the_key_of_its_words(turn: int, key: str):
    """Each key meets each container, and so does each spelling."""
    for number, spelled in enumerate((key, *(spell(key) for spell in SPELLINGS)), start=turn):
        outcome = {CONTAINERS[number % len(CONTAINERS)]: [{"code": "R1", spelled: WORDS}]}
        assert factors(outcome) == [WORDS], outcome
        assert not problems_of(outcome), outcome


@each_case(
    "reasons",
    [
        WORDS,
        [WORDS],
        [[WORDS]],
        {"primary": WORDS},
        {"primary": {"text": WORDS}, "secondary": []},
        [{"items": [{"text": WORDS}]}],
        [{"category": "income", "details": [{"message": WORDS}]}],
        [{"unheard_of": WORDS}],
        [{"code": "R1", "unheard_of": WORDS}],
    ],
)
@each_case("within", ["reasons", "grounds", "motifs", "Begründung", "explanation", "reasonText"])
def test_a_reason_is_printed_at_any_depth(reasons, within: str):
    for outcome in ({within: reasons}, {"assessment": {"results": [{within: reasons}]}}):
        assert factors(outcome) == [WORDS]
        assert not problems_of(outcome)


def test_what_is_true_is_a_reason_and_what_is_false_is_none():
    assert factors({"reasons": {"late_payments": True, "bankruptcy": False}}) == ["Late payments."]
    assert untold_in({"reasons": {"late_payments": True, "bankruptcy": False}}) == {"reasons.bankruptcy": "detail"}


def test_what_is_no_word_for_a_code_is_no_reason():
    for key, value in (("Name", True), ("label", 0), ("text", 17), ("path", True), ("source", "x"), ("impact", "?")):
        assert untold_in({"reason_codes": {key: value}}) == {f"reason_codes.{key}": "code"}
    assert untold_in({"reasons": [{"code": "R1"}, {"code": "R1", "text": True}]}) == {"reasons.1.text": "detail"}


def test_flags_and_numbers_about_reasons_are_none():
    outcome = {"action": "denied", "number_of_reasons": 3, "reason_given": True}
    assert factors(outcome) == []
    assert problems_of(outcome) == []


def test_more_codes_than_reasons_are_printed_and_as_many_are_not():
    assert factors({"reasons": [WORDS], "reason_codes": ["R1"]}) == [WORDS]
    assert untold_in({"reasons": [WORDS], "reason_codes": ["R1"]}) == {"reason_codes.0": "code"}
    assert factors({"reasons": [WORDS], "reason_codes": ["R1", "R2"]})[1:] == ["Reason code: R1.", "Reason code: R2."]
    for nothing in ([None], [""], [{}], [[{"text": " "}]], 3, True):
        assert factors({"reasons": nothing, "reason_codes": ["R1"]}) == ["Reason code: R1."]


# ── factors: names and directions, and no numbers of a model ──


@pytest.mark.parametrize("meaning", TABLE["directions"])
def test_a_factor_s_direction_is_understood_in_every_spelling(meaning: str):
    (expected,) = factors(
        {"principal_factors": [{"factor": "late_payments", "direction": TABLE["directions"][meaning][1]}]}
    )
    assert expected.startswith("Late payments – this ")
    keys = TABLE["names"]["direction"]
    for turn, word in enumerate(TABLE["directions"][meaning]):  # each key meets each spelling
        spellings = (word, word.upper(), word.capitalize(), word.replace(" ", "_"), f" {word} ")
        for number, spelled in enumerate(spellings, start=turn):
            factor = {"name": "late_payments", keys[number % len(keys)]: spelled}
            assert factors({"principal_factors": [factor]}) == [expected], factor


@each_case(("key", "number"), zip(sorted(set(TABLE["names"]["attribution"])), cycle([0.1234, -3.75, 0, 17])))
def test_a_model_s_numbers_are_never_printed_and_never_block(key: str, number: float):
    for factor in ({"feature": "debt", key: number}, {"feature": "debt", "value": 5, key: number}):
        outcome = {"principal_factors": [factor]}
        (line,) = factors(outcome)
        assert line.startswith("Debt")
        assert str(abs(number)) not in line or number == 0
        assert untold_in(outcome) == {f"principal_factors.0.{key}": "attribution"}
        assert problems_of(outcome) == []


@each_case(
    ("outcome", "expected"),
    [
        ({"principal_factors": [{"feature": "debt", "shap_value": -0.3}]}, "Debt – this lowered the system’s result."),
        ({"principal_factors": [{"feature": "debt", "contribution": 2}]}, "Debt – this raised the system’s result."),
        ({"principal_factors": [{"feature": "debt", "weight": 0.4}]}, "Debt."),
        ({"principal_factors": [{"feature": "debt", "impact": -2, "direction": "adverse"}]},
         "Debt – this counted against you."),
        ({"shap_values": {"debt": -0.3}}, "Debt – this lowered the system’s result."),
        ({"feature_importances": {"debt": 0.3}}, "Debt."),
        ({"principal_factors": {"debt": 0.3}}, "Debt."),
        ({"principal_factors": {"debt": 5000}}, "Debt: 5000."),
        ({"principal_factors": {"debt": {"value": 5000, "direction": "adverse"}}},
         "Debt: 5000 – this counted against you."),
        ({"principal_factors": {"debt": "negative"}}, "Debt – this counted against you."),
        ({"principal_factors": [{"feature": "debt", "description": "It is too high.", "effect": "negative"}]},
         "Debt: It is too high – this counted against you."),
        ({"principal_factors": [{"description": "It is old. It is big.", "effect": "negative"}]},
         "It is big – this counted against you."),
    ],
)  # fmt: skip
def test_the_sign_of_a_contribution_is_a_direction_and_a_share_is_none(outcome: dict, expected: str):
    assert factors(outcome)[-1] == expected
    assert problems_of(outcome) == []


def test_where_the_law_wants_few_reasons_a_factor_keeps_its_name_and_direction():
    outcome = {
        "action": "denied",
        "reasons": [WORDS],
        "principal_factors": [{"feature": "income", "effect": "adverse"}],
    }
    content = content_of({"outcome": outcome}, "us_ecoa_fcra")
    assert statement_texts(content, "main_factors") == [WORDS]
    assert statement_texts(content, "inputs_used") == ["Income – this counted against you."]


# ── conditions, terms, dates, consequences ──


@pytest.mark.parametrize("language", LANGUAGES)
def test_conditions_rates_terms_and_dates_are_printed_in_every_language(language: str):
    outcome = {
        "action": "approved with conditions",
        "conditions": [{"id": "C1", "text": "You must sign.", "due": "2026-12-01"}, "proof of income"],
        "interest_rate_percent": 4.125,
        "terms": {"duration_months": 48, "collateral": "none"},
        "first_payment_on": "2027-01-01",
        "stipulations": {"insurance": {"name": "Fire insurance"}},
        "appeal": {"deadline": "2026-12-24"},
        "consequences": {"next": [{"description": "The offer ends."}]},
    }  # fmt: skip
    content = content_of({"outcome": outcome}, "general", language)
    cited = {item["source"].removeprefix("outcome.") for item in content["decision_summary"]}
    assert cited == {
        "action", "conditions.0.text", "conditions.0.due", "conditions.1", "interest_rate_percent",
        "terms.duration_months", "terms.collateral", "first_payment_on", "stipulations.insurance.name",
        "appeal.deadline", "consequences.next.0.description",
    }  # fmt: skip
    assert untold_in(outcome, content) == {"conditions.0.id": "code"}


COUNTEROFFERS = [
    {"counteroffer": {"amount": 15000, "currency": "USD", "accept_by": "2026-12-20", "how_to_accept": "Sign in."}},
    {"offer": {"amount_usd": 15000, "expires_at": "2026-12-20T00:00:00Z", "acceptance": {"instructions": "Sign in."}}},
    {"counter_offer": {"terms": {"amount": "15000.00", "currency": "USD"}, "valid_until": "2026-12-20",
                       "contact": "Sign in."}},
    {"offered_amount_usd": 15000, "offer_expires_on": "2026-12-20", "how_to_accept_offer": "Sign in."},
    {"alternative": {"amount": {"value": 15000, "currency": "USD"}, "respond_by": "2026-12-20",
                     "respond_at": "Sign in."}},
]  # fmt: skip


@each_case("offer", COUNTEROFFERS)
@each_case("pack", ["us_ecoa_fcra", "general"])
def test_a_counteroffer_says_what_was_refused_what_is_offered_how_to_accept_and_by_when(offer: dict, pack: str):
    outcome = {"action": "counteroffer", "reasons": [WORDS], **offer}
    record = {"events": {"loan_application": {}, "application": {"amount_requested_usd": 25000}}, "outcome": outcome}
    content = content_of(record, pack)
    lines = statement_texts(content, "decision_summary")
    assert "$25,000" in lines[0]
    assert lines[1] == "We could not approve your loan application as you asked, but we can make you another offer."
    assert any(line.startswith("Our offer to you – ") and line.endswith(" $15,000.") for line in lines), lines
    assert "You can accept the offer until December 20, 2026." in lines
    assert any(line.startswith("How to accept the offer: Sign in.") for line in lines), lines
    assert problems_of(outcome, content) == []
    assert not [warning for warning in warnings_of(record, pack) if warning.id.startswith("not_in_field")]


@pytest.mark.parametrize(("language", "words"), [("de", "Unser Angebot an Sie"), ("fr", "Notre offre")])
def test_a_counteroffer_is_printed_in_the_language_of_the_letter(language: str, words: str):
    lines = statement_texts(
        content_of({"outcome": {"action": "COUNTER_OFFER", **COUNTEROFFERS[0]}}, "general", language)
    )
    assert any(line.startswith(words) for line in lines)


def test_several_offers_are_distinguished():
    lines = statement_texts(content_of({"outcome": {"offers": [{"amount_eur": 1}, {"amount_eur": 2}]}}))
    assert lines == ["Our offer to you – amount (offers no. 1): €1.", "Our offer to you – amount (offers no. 2): €2."]


# ── fields that no sentence uses ──


def test_an_unused_field_is_listed_with_its_kind():
    outcome = {"action": "denied", "model_version": "3", "score": 5, "appeal": {"how": "Write."}, "vip": True}
    assert untold_in(outcome) == {
        "model_version": "detail", "score": "score", "vip": "flag",
    }  # fmt: skip


@each_case(
    ("outcome", "path"),
    [
        ({"reasons": [WORDS]}, "reasons.0"),
        ({"reasons": [{"code": "R1", "text": WORDS}]}, "reasons.0.text"),
        ({"principal_factors": [{"factor": "debt"}]}, "principal_factors.0.factor"),
        ({"conditions": ["Sign."]}, "conditions.0"),
        ({"offer": {"amount_eur": 5}}, "offer.amount_eur"),
        ({"interest_rate_percent": 5}, "interest_rate_percent"),
    ],
)
def test_an_unused_reason_condition_or_term_blocks_until_printed_or_withheld(outcome: dict, path: str):
    nothing = {**content_of({"outcome": outcome}), "decision_summary": [], "main_factors": [], "inputs_used": []}
    problem = problems_of(outcome, nothing)[0]
    assert f"outcome.{path} " in problem
    assert "withhold it in the phrasebook" in problem
    own_words = {**nothing, "main_factors": [{"statement": "In other words.", "source": f"outcome.{path}"}]}
    assert problems_of(outcome, own_words) == []
    phrase = Phrase(key=f"outcome.{path.split('.')[0]}", withheld=True)
    assert problems_of(outcome, nothing, phrase) == []
    assert untold_in(outcome, nothing, phrase) == {}


def test_what_a_reason_s_code_withholds_is_not_untold():
    outcome = {"reasons": [{"code": "R1", "text": WORDS}]}
    assert untold_in(outcome, None, Phrase(key="R1", withheld=True)) == {
        "reasons.0.code": "code",
        "reasons.0.text": "detail",
    }
    assert problems_of(outcome, None, Phrase(key="R1", withheld=True)) == []


def test_record_values_in_a_pack_s_text_count_as_printed():
    outcome = {"action": "denied", "appeal": {"internal_days": 180, "how": "x"}}
    record = {"decision_id": "d", "subject": {"plan_type": "employer"}, "outcome": outcome}
    content = content_of(record, "us_health_denial")
    assert "180" in " ".join(content["rights"])
    fields = checklist.untold_fields(case(record, "us_health_denial"), content)
    assert "outcome.appeal.internal_days" not in {field.path for field in fields}


@each_case(
    "reasons",
    [
        {"late_payments": True, "high_debt": True},
        {"late_payments": 3, "high_debt": 3},
        {"Payments": {"late": True}, "Debt": {"high": True}},
    ],
)
def test_a_reason_that_a_key_names_is_printed_by_no_other_of_the_same_value(reasons: dict):
    outcome = {"action": "denied", "reasons": reasons}
    _, content = checked_draft({"decision_id": "d", "outcome": outcome}, "general", "en")
    first, second = content["main_factors"]
    assert problems_of(outcome, content) == []
    (problem,) = problems_of(outcome, {**content, "main_factors": [first]})
    assert second["source"] in problem


def test_a_same_named_reason_does_not_hide_a_factor_s_number():
    outcome = {"action": "denied", "reasons": {"late_payments": True}, "principal_factors": {"late_payments": 5}}
    _, content = checked_draft({"decision_id": "d", "outcome": outcome}, "general", "en")
    late_payments = [item for item in content["main_factors"] if item["source"] == "outcome.reasons.late_payments"]
    assert late_payments
    (problem,) = problems_of(outcome, {**content, "main_factors": late_payments})
    assert "outcome.principal_factors.late_payments" in problem


def test_a_factor_s_value_is_printed_by_the_field_that_it_cites():
    factor = {"factor": "income", "value": 3, "path": "events.check.income"}
    record = {"decision_id": "d", "events": {"check": {"income": 3}}, "outcome": {"principal_factors": [factor]}}
    checked, content = checked_draft(record, "general", "en")
    assert [item["source"] for item in content["main_factors"]] == ["events.check.income"]
    assert [*checklist.untold_fields(checked, content)] == []


@settings(max_examples=100, deadline=None)
@given(RECORDS, st.sampled_from(EVERY))
@example({"outcome": {"reason_codes": {"Term": 0}}}, EVERY[0])  # a term of an offer elsewhere
@example({"outcome": {"reasons": [{"value": 0}, {"value": 0, "flag": True}]}}, EVERY[0])  # printed once
@example({"outcome": {"reasons": [{"value": {"a": 0}}, {"value": {"a": 0}, "name": None, "flag": True}]}}, EVERY[0])
def test_no_draft_of_any_record_is_blocked_by_what_it_leaves_out_itself(record: dict, under: tuple[str, str]):
    pack, language = under
    raw = json.dumps(record).encode()
    facts, redaction = Facts(raw), redaction_of(Facts(raw), packs()[pack], Phrasebook(()))
    fields = untold.find(facts, packs()[pack], redaction, content_of(raw, pack, language))
    assert [field for field in fields if field.blocks] == []


@pytest.mark.django_db
def test_the_response_lists_unused_fields_and_they_block_approval(api):
    api.ingest({"decision_id": "lost", "outcome": {"action": "denied", "reasons": [WORDS], "model": "m"}})
    notice = drafted(api, "lost", pack="gdpr_22")
    assert notice["untold"] == [{"path": "outcome.model", "kind": "detail", "blocks": False}]
    other = [{"statement": "It was denied.", "source": "outcome.action"}]
    edited = done(edit(api, notice, main_factors=other))
    assert {"path": "outcome.reasons.0", "kind": "reason", "blocks": True} in edited["untold"]
    assert "outcome.reasons.0 is a reason, and no statement tells it" in refused(approve(api, edited))


@pytest.mark.django_db
def test_the_review_page_shows_unused_fields(api, signed_in):
    api.ingest({"decision_id": "lost", "outcome": {"action": "denied", "reasons": [WORDS], "model": "m"}})
    notice = drafted(api, "lost", pack="gdpr_22")
    done(edit(api, notice, main_factors=[]))
    page = signed_in(Role.APPROVER).get(f"/admin/notices/notice/{notice['notice_id']}/change/").content.decode()
    assert "Left out of this letter" in page
    assert "outcome.model" in page
    assert "must be cited or withheld" in page


def test_what_is_untold_is_found_in_steps_that_grow_with_the_record_alone(monkeypatch):
    steps = {}
    for size in (200, 400):
        asked = []
        counted = lambda fact, ask=outcome_parts.kind, asked=asked: (asked.append(1), ask(fact))[1]  # noqa: E731
        monkeypatch.setattr(outcome_parts, "kind", counted)
        outcome = {"principal_factors": [{"factor": f"f {n}", "path": f"outcome.v.{n}"} for n in range(size)],
                   "v": list(range(size)), "conditions": [f"Condition {n}." for n in range(size)]}  # fmt: skip
        untold_in(outcome)
        monkeypatch.undo()
        steps[size] = len(asked)
    assert steps[400] <= 2.2 * steps[200]


@pytest.mark.parametrize(
    "key", ["how_to_accept", "howToAccept", "acceptance_instructions", "accept_url", "so_annehmen"]
)
def test_how_to_accept_an_offer_is_printed_beside_its_terms(key):
    outcome = {"action": "counteroffer", "amount_approved_usd": 12500, key: "Call us."}
    content = content_of({"decision_id": "d", "outcome": outcome}, "general", "en")
    assert "How to accept the offer: Call us." in statement_texts(content, "decision_summary")
    assert untold_in(outcome) == {}
    assert untold_in(outcome, {**content, "decision_summary": []})[key] == "offer"


@each_case(
    ("key", "kind"),
    [("sollzins_prozent", "term"), ("zinsbindung_jahre", "term"), ("Selbstbeteiligung-EUR", "term"),
     ("surprime_pourcent", "term"), ("franchise_eur", "term"), ("bezahlt_eur", "decided")],
)  # fmt: skip
@each_case("language", LANGUAGES)
def test_terms_of_german_and_french_records_are_printed_and_never_lost(key, kind, language):
    outcome = {"action": "approved", key: 5}
    content = content_of({"decision_id": "d", "outcome": outcome}, "general", language)
    assert [item["source"] for item in content["decision_summary"]] == ["outcome.action", f"outcome.{key}"]
    assert untold_in(outcome, {**content, "decision_summary": []})[key] == kind


@each_case("container", ["ablehnungsgruende", "begruendung", "motifs", "raisons", "hauptfaktoren"])
@each_case("key", ["hinweis", "begruendung", "libelle", "raison", "merkmal"])
def test_reasons_under_german_and_french_keys_are_printed(container, key):
    assert factors({container: [{"code": "R1", key: WORDS}]}) == [WORDS]


# ── terms, conditions and procedures under unknown names ──


@each_case(
    ("key", "value", "kind", "sentence"),
    [
        ("subject_to", "Proof of residence", "condition", "A condition: Proof of residence."),
        ("SubjectTo", ["A clean title"], "condition", "A condition: A clean title."),
        ("prior_to_funding", [{"id": "C1", "text": "Two pay stubs"}], "condition", "A condition: Two pay stubs."),
        ("approval-contingent-on", "A second signature", "condition", "A condition: A second signature."),
        ("missing_information", ["W-2 form"], "missing", "What is still needed: W-2 form."),
        ("documents_missing", {"text": "Lease"}, "missing", "What is still needed: Lease."),
        (
            "information_needed",
            "The date of the treatment",
            "missing",
            "What is still needed: The date of the treatment.",
        ),
        ("penalty", "5 % of the rent", "term", "Penalty: 5 % of the rent."),
        ("copay", {"amount": 30, "currency": "USD"}, "term", "Copay amount: $30."),
        ("memberResponsibilityUsd", 120, "term", "Member responsibility: $120."),
        ("coinsurance_percent", 20, "term", "Coinsurance: 20%."),
        ("visits", 12, "term", "Visits: 12."),
        ("position", "Senior analyst", "term", "Position: Senior analyst."),
        ("final_grade", "B+", "term", "Final grade: B+."),
        ("annual_salary_eur", 50000, "term", "Annual salary: €50,000."),
    ],
)
def test_a_condition_or_term_is_printed_under_any_of_its_names_and_blocks_where_it_is_not(key, value, kind, sentence):
    outcome = {"action": "partially approved", key: value}
    content = content_of({"decision_id": "d", "outcome": outcome})
    assert sentence in statement_texts(content, "decision_summary")
    assert kind not in untold_in(outcome, content).values()
    nothing = {**content, "decision_summary": []}
    assert kind in untold_in(outcome, nothing).values()
    assert problems_of(outcome, nothing)


@pytest.mark.parametrize("key", ["subject", "priority_mail", "subjects", "prior"])
def test_one_of_two_words_makes_no_condition(key):
    assert "condition" not in untold_in({key: {"x": "y"}}, {"decision_summary": []}).values()


@pytest.mark.parametrize(
    ("outcome", "sentence"),
    [
        ({"appeal": {"how": "Write to the board."}}, "Appeal: Write to the board."),
        ({"appeal": {"address": "1 Example Street"}}, "Appeal address: 1 Example Street."),
        ({"how_to_appeal": "Call us."}, "How to appeal: Call us."),
        ({"complaints": {"contact": "the ombudsman"}}, "Complaints contact: the ombudsman."),
        ({"review": {"how": "Sign in.", "role": "team 4"}}, "Review: Sign in."),
    ],
)
def test_how_to_appeal_is_printed_where_something_was_refused_and_not_where_all_was_given(outcome, sentence):
    assert statement_texts(content_of({"outcome": {"action": "denied", **outcome}}), "decision_summary")[1:] == [
        sentence
    ]
    assert statement_texts(content_of({"outcome": {"action": "approved", **outcome}}), "decision_summary")[1:] == []
