# ruff: noqa: RUF001 - real apostrophes
"""Outcomes in any word and spelling, and flags as JSON booleans only."""

import json
import tomllib
from itertools import cycle
from pathlib import Path

import pytest

from decisions import samples
from decisions.record import outcomes
from notices import checklist
from notices.localization import catalog
from notices.packs import conditions, packs
from notices.packs.flags import FLAGS
from notices.record_paths import Facts
from tests.cases import each_case
from tests.notices.conftest import approve, done, drafted, refused
from tests.notices.drafts import EVERY, LANGUAGES, case, checked_draft, listed_problems, statement_texts, warnings_of
from tests.notices.drafts import drafted as content_of
from tests.notices.test_reasons import Words

TABLE = tomllib.loads(Path(outcomes.__file__).with_suffix(".toml").read_text("utf-8"))
WORDS = [(kind, word, spelling) for kind, words in TABLE.items() for word in words for spelling in (word, *words[word])]


def spellings(word: str) -> set[str]:
    camel = "".join(part.capitalize() for part in word.split("_"))
    return {word, word.upper(), word.capitalize(), word.replace("_", " "), word.replace("_", "-"), camel, f" {word} "}


# ── outcomes ──


@each_case(("kind", "word", "spelling"), WORDS)
def test_every_word_is_known_in_any_spelling_and_has_one_meaning(kind, word, spelling):
    assert {outcomes.outcome(variant) for variant in spellings(spelling)} == {(kind, word)}
    assert [known for _, known, other in WORDS if other == spelling] == [word]


@each_case(
    ("spelling", "word"),
    {
        "Ablehnung": "denied", "ABSAGE": "rejected", "Zusage": "accepted", "Bewilligung": "granted",
        "Teilbewilligung": "partially_approved", "nicht ausgewählt": "not_shortlisted",
        "nicht_ausgewaehlt": "not_shortlisted",
        "gekuendigt": "ended", "Gekürzt": "reduced", "gekuerzt": "reduced", "UNGUELTIG": "invalidated",
        "accordee": "granted", "ACCORDÉE": "granted", "accordée en partie": "partially_approved", "refus": "denied",
        "Rejet": "rejected", "retenue": "shortlisted", "non retenu": "not_shortlisted", "reduite": "reduced",
        "loan_denied": "denied", "ClaimDenied": "denied", "application-approved": "approved",
        "credit limit increase denied": "denied", "mortgage_application_withdrawn": "withdrawn",
        "renewal_declined": "not_renewed", "account_deactivated": "ended", "account_locked": "suspended",
        "benefit_reduced": "reduced", "limit_decreased": "reduced", "credit_line_decreased": "reduced",
        "policy_cancelled": "ended", "loan_refused": "declined", "Antrag abgelehnt": "denied", "claim_paid": "granted",
        "accepted with special terms": "conditionally_approved",
        "Mit Auflagen genehmigt": "conditionally_approved",
    }.items(),
)  # fmt: skip
def test_a_word_is_known_in_german_and_french_without_accents_and_behind_what_it_is_about(spelling, word):
    assert outcomes.outcome(spelling).word == word


@each_case(
    "word", ["loan_paid", "loan_advanced", "loan_closed", "offer_declined", "appeal_denied", "case_closed",
             "application_closed", "loan_", "_", "payment_declined", "fraud_confirmed", "review_passed",
             "renewed_with_increase"]
)  # fmt: skip
def test_a_word_behind_something_else_may_mean_something_else(word):
    assert outcomes.outcome(word) is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_letter_tells_of_a_request_for_an_outcome_that_it_does_not_know(language):
    for action in ("renewed_with_increase", "points added"):
        (line,) = statement_texts(content_of({"outcome": {"action": action}}, "general", language), "decision_summary")
        assert line == {"en": "The decision: ", "de": "Die Entscheidung: ", "fr": "La décision\u00a0: "}[language] + (
            f"{action.replace('_', ' ')}."
        )


@each_case("asked", TABLE)
def test_a_condition_about_an_outcome_holds_for_every_word_of_its_kind(asked):
    condition = conditions.parse(f'if record outcome.action is "{asked}"')
    for kind, _, word in WORDS:
        for spelling in spellings(word):
            assert condition.holds({"outcome.action": spelling}.get) is (asked == kind), spelling


def test_what_is_in_no_table_is_its_own_kind():
    condition = conditions.parse('if record outcome.action is "put on ice"')
    assert condition.holds({"outcome.action": "PUT_ON_ICE"}.get)
    assert not condition.holds({"outcome.action": "approved"}.get)
    assert not condition.holds({"outcome.action": 7}.get)
    assert not condition.holds({}.get)


def test_every_outcome_that_a_pack_asks_for_is_a_kind_of_the_table():
    for pack in packs().values():
        for part in (*pack.elements, *pack.clocks, *pack.locked):
            for condition in part.when.conditions:
                if outcomes.PATHS[0] in condition.paths or outcomes.PATHS[1] in condition.paths:
                    assert {outcomes.kind(value) for value in condition.values} <= set(TABLE), (pack.id, part.id)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sentence_is_chosen_by_meaning_and_not_by_spelling(language):
    for _, word, spelling in WORDS:
        known = catalog(language).choice("outcome.action", word)
        assert {catalog(language).choice("outcome.action", variant) for variant in spellings(spelling)} == {known}
    assert statement_texts(
        content_of({"outcome": {"action": "PartiallyApproved"}}, "general", language), "decision_summary"
    ) == [
        {
            "en": "Your request was approved in part.",
            "de": "Ihr Antrag wurde teilweise bewilligt.",
            "fr": "Votre demande a été acceptée en partie.",
        }[language]
    ]


@pytest.mark.parametrize(
    ("path", "value"), [("action", "flurbled"), ("result", "???"), ("action", 7), ("action", ["x"])]
)
def test_an_unknown_word_warns_the_operator(path, value):
    warnings = warnings_of({"decision_id": "d", "outcome": {path: value}})
    (warning,) = [row for row in warnings if row.id.startswith("unknown_outcome-")]
    assert f"(outcome.{path})" in warning.sentence
    assert (str(value) in warning.sentence) is isinstance(value, str)


@pytest.mark.parametrize("value", ["denied", "GRANTED", "Approved with conditions", "", None])
def test_a_known_or_missing_word_is_not_reported(value):
    assert not [warning for warning in warnings_of({"outcome": {"action": value}}) if "unknown_outcome" in warning.id]


def test_every_sample_says_its_outcome_in_a_known_word():
    for raw in [*samples.synthetic_records(), next(samples.mortgage_records())]:
        assert outcomes.outcome(json.loads(raw)["outcome"]["action"])


APPROVALS = sorted({word for kind, _, word in WORDS if kind == "approved"})


PLANS = ["individual", "employer", "medicare_advantage"]


@each_case(("turn", "plan"), enumerate(PLANS))
def test_no_approval_tells_how_to_appeal_or_owes_reasons_in_whatever_words(turn, plan):
    for action in APPROVALS[turn :: len(PLANS)]:
        for pack in ("us_health_denial", "us_ecoa_fcra"):
            record = {"decision_id": "d", "subject": {"plan_type": plan}, "outcome": {"action": action}}
            checked, content = checked_draft(record, pack)
            assert "appeal" not in " ".join(content["rights"]).lower(), action
            elements = checklist.check(checked, Words(content))
            assert next(row.result for row in elements if row.id == "specific_reasons") == "not_applicable", action
    denied = {"decision_id": "d", "subject": {"plan_type": plan}, "outcome": {"action": "DENIED"}}
    assert "appeal" in " ".join(content_of(denied, "us_health_denial")["rights"]).lower()


# ── flags ──

UNREADABLE = ["no", "false", "true", "yes", "N", "", 0, 1, 1.0, [], {}, ["true"]]


def with_flag(path: str, value: object) -> dict:
    record: dict = {"decision_id": "d", "outcome": {"action": "denied"}}
    *outer, last = path.split(".")
    part = record
    for key in outer:
        part = part.setdefault(key, {})
    part[last] = value
    return record


def flag_problems(record: dict, pack: str) -> list[str]:
    language = packs()[pack].languages[0]
    checked, content = checked_draft(record, pack, language)
    return [problem for problem in listed_problems(checked, content) if "neither true nor false" in problem]


@each_case("path", sorted(FLAGS))
def test_a_flag_that_is_no_json_boolean_is_a_problem_for_every_pack_that_reads_it(path):
    readers = [pack for pack in packs() if path in packs()[pack].record_paths]
    assert len(UNREADABLE) >= len(readers)
    for value, pack in zip(UNREADABLE, cycle(readers), strict=False):
        (problem,) = flag_problems(with_flag(path, value), pack)
        assert path in problem
    for value, pack in zip(cycle((True, False, None)), packs(), strict=False):
        assert flag_problems(with_flag(path, value), pack) == []


@each_case(("pack", "language"), EVERY)
def test_who_decided_and_whether_a_person_looks_again_are_read_by_every_letter(pack, language):
    for path in ("outcome.solely_automated", "outcome.review.available"):
        assert flag_problems(with_flag(path, "false"), pack)


@each_case("value", UNREADABLE)
def test_no_condition_takes_an_unreadable_flag_for_either(value):
    flag = "outcome.solely_automated"
    for expression in (f"if record {flag}", f"if record {flag} is true", f"if record {flag} is false"):
        assert not conditions.parse(expression).holds({flag: value}.get)


@pytest.mark.parametrize("value", ["no", "yes", 0, 1])
def test_no_letter_denies_or_promises_a_review_for_an_unreadable_flag(value):
    for flag in ("outcome.review.not_commercially_reasonable", "outcome.review.available"):
        content = content_of(with_flag(flag, value), "general")
        assert (content["human_review_available"], content["how_to_request_review"]) == (False, "")


def test_why_no_review_is_offered_may_be_said_in_the_place_of_true():
    record = with_flag("outcome.review.not_commercially_reasonable", "There is a fixed quota.")
    assert flag_problems(record, "us_co_admt") == []
    assert content_of(record, "us_co_admt")["human_review_available"] is False


def test_which_law_calls_a_use_high_risk_may_be_said_in_the_place_of_true():
    assert flag_problems(with_flag("system.high_risk_use", "EU AI Act, Annex III, point 4(a)"), "eu_ai_act_86") == []
    assert flag_problems(with_flag("system.high_risk_use", "no"), "eu_ai_act_86") != []


def test_the_number_one_is_not_true():
    record = with_flag("approval.licensed_clinician", 1)
    record["subject"] = {"plan_type": "medicare_advantage", "jurisdiction": "US-CA"}
    elements = checklist.check(case(record, "us_health_denial"), Words(content_of(record, "us_health_denial")))
    clinician = [element for element in elements if "clinician" in element.id and element.result != "not_applicable"]
    assert {element.result for element in clinician} <= {"missing"}


def test_every_field_that_a_pack_or_a_letter_reads_as_true_or_false_is_a_flag():
    for pack in packs().values():
        for part in (*pack.elements, *pack.clocks, *pack.locked):
            asked = {path for test in part.when.conditions for path in test.paths if bool in map(type, test.values)}
            assert asked <= FLAGS, (pack.id, part.id)
        for element in pack.elements:
            assert not isinstance(element.equals, bool) or set(element.paths) <= FLAGS
    assert {path for path, known in catalog("en").choices.items() if "true" in known} <= FLAGS


@pytest.mark.django_db
def test_a_flag_in_words_blocks_approval_and_the_response_says_how_to_fix_it(api):
    api.ingest({"decision_id": "flag", "outcome": {"action": "denied", "solely_automated": "no"}})
    problem = refused(approve(api, drafted(api, "flag", pack="gdpr_22")))
    assert "outcome.solely_automated is neither true nor false" in problem
    assert "another decision_id" in problem
    outcome = {"action": "denied", "solely_automated": False, "reasons": ["Your income is too low."]}
    api.ingest({"decision_id": "flag-2", "outcome": outcome})
    assert done(approve(api, drafted(api, "flag-2")))["state"] == "approved"


def test_facts_give_flags_as_the_record_spells_them():
    assert Facts(b'{"outcome": {"solely_automated": "false"}}').get("outcome.solely_automated") == "false"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_for_an_outcome_has_a_sentence_in_every_language(language):
    for _, word, spelling in WORDS:
        for path in outcomes.PATHS:
            assert catalog(language).choice(path, spelling) == catalog(language).choices["outcome.action"][word]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_second_look_tells_the_first_request_from_the_one_for_the_look(language):
    record = {"decision_id": "cc-R1", "reconsiders": {"decision_id": "cc-1"}}
    text = " ".join(
        statement_texts(
            content_of({**record, "outcome": {"result": "upheld", "action": "denied"}}, "general", language)
        )
    )
    assert catalog(language).subjects["original"] in text
    assert "cc-1" not in text  # an internal id, which the person never saw


@each_case("path", ["decision", "status"])
@each_case("pack", ["us_ecoa_fcra", "general"])
def test_a_record_without_an_action_says_elsewhere_what_was_decided(path, pack):
    letters = [
        statement_texts(content_of({"outcome": {name: "Counter-Offer"}}, pack), "decision_summary")
        for name in ("action", path)
    ]
    assert letters[0] == letters[1]
    facts = Facts(json.dumps({"outcome": {path: "Approved"}}).encode())
    assert conditions.parse('if record outcome.action is "granted"').holds(facts.get)
    assert facts.get("found.no_adverse_action") is True


def test_an_action_goes_before_what_else_says_what_was_decided():
    lines = statement_texts(content_of({"outcome": {"action": "denied", "decision": "approved"}}), "decision_summary")
    assert lines == ["Your request was denied."]
    assert statement_texts(content_of({"outcome": {"decision": "final"}})) == ["The decision: final."]


NOBODY_DECIDED = {
    "referred": ("This happened on", "Die Weitergabe erfolgte am", "La transmission a eu lieu le"),
    "pended": ("The decision has been pending since", "Die Entscheidung steht seit dem", "La décision est en attente"),
    "application_incomplete": ("We found this on", "Festgestellt haben wir das am", "Nous l’avons constaté le"),
    "withdrawn": ("This was recorded on", "Vermerkt haben wir das am", "Le retrait a été enregistré le"),
}


@pytest.mark.parametrize("action", NOBODY_DECIDED)
def test_an_undecided_case_has_no_day_of_decision(action):
    for language, start in zip(("en", "de", "fr"), NOBODY_DECIDED[action], strict=True):
        record = {"decided_at": "2026-11-20T09:30:00Z", "system": {"name": "Triage"}, "outcome": {"action": action}}
        _, day, system = statement_texts(
            content_of(record, "general", language), "decision_summary", "role_of_automated_system"
        )
        assert day.startswith(start)
        assert "2026" in day
        assert any(words in system for words in ("so far", "Bisher", "jusqu’ici"))
        waiting = content_of({**record, "outcome": {"action": "wait-listed"}}, "general", "en")
        assert any("November 20, 2026" in text for text in statement_texts(waiting))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_has_a_sentence_of_its_own_in_every_catalog_and_no_catalog_has_more(language):
    words = {word for kind in TABLE.values() for word in kind}
    assert set(catalog(language).choices["outcome.action"]) == words
    assert set(catalog(language).since) <= words
    for word in words:
        lines = statement_texts(content_of({"outcome": {"action": word}}, "general", language), "decision_summary")
        assert len(lines) == 1
        assert ":" not in lines[0], "a sentence, and no label with a value"
