"""Phrasebook entries in a draft: replaced words, and withheld fields."""

import json

from notices.drafting import redaction_of
from notices.packs import packs
from notices.phrasebook import Phrase, Phrasebook
from notices.record_paths import Facts
from tests.cases import each_case
from tests.notices.drafts import drafted, factors, statement_texts, whole_draft


def test_a_phrase_counts_by_path_by_the_event_s_name_or_by_the_field_s():
    record = {"events": [{"name": "check", "score": 5}]}
    for key in ("events.0.score", "events.check.score", "score"):
        content = drafted(record, "general", "en", Phrase(key=key, sentence="You had {value} points."))
        assert statement_texts(content) == ["You had 5 points."]
    labelled = drafted(record, "general", "en", Phrase(key="score", label="points"))
    assert statement_texts(labelled) == ["Points (check)."]


def test_a_phrase_is_the_words_of_a_code_and_of_a_factor():
    factor = {"factor": "debts", "value": 0.5}
    outcome = {"reasons": [{"code": "R14", "text": "Too short"}], "principal_factors": [factor]}
    phrases = [Phrase(key="R14", sentence="Your accounts are too new."), Phrase(key="debts", label="your debts")]
    assert factors(outcome, None, "en", *phrases) == ["Your accounts are too new.", "Your debts: 0.5."]


SECRET = "canary"


@each_case(
    ("key", "record"),
    [
        ("events.check.note", {"events": {"check": {"note": "other"}},
         "outcome": {"principal_factors": [{"factor": "n", "path": "events.check.note", "value": SECRET}]}}),
        ("hidden", {"outcome": {"principal_factors": [{"factor": "hidden", "value": SECRET}]}}),
        ("R1", {"outcome": {"reasons": [{"code": "R1", "text": SECRET}]}}),
        ("outcome.reasons", {"outcome": {"reasons": [SECRET]}}),
        ("text", {"outcome": {"reasons": [{"code": "R1", "text": SECRET}]}}),
        ("outcome", {"outcome": {"action": SECRET, "consequences": SECRET}}),
        ("system.name", {"system": {"name": SECRET}}),
    ],
)  # fmt: skip
def test_a_withheld_field_is_nowhere_in_the_notice(key: str, record: dict):
    assert SECRET in str(drafted(record)).lower()
    content = drafted(record, "general", "en", Phrase(key=key, withheld=True))
    assert SECRET not in str(content).lower()


def test_reasons_that_are_withheld_are_not_printed_by_their_codes_instead():
    record = {"outcome": {"reasons": [SECRET], "reason_codes": ["R1"]}}
    phrases = [Phrase(key="outcome.reasons", withheld=True), Phrase(key="R1", sentence="The reason was R1.")]
    assert statement_texts(drafted(record, "general", "en", *phrases), "main_factors") == []


def test_a_notice_that_leaves_something_out_says_so():
    withheld = drafted({"events": {"check": {"note": "x"}}}, "general", "en", Phrase(key="note", withheld=True))
    assert set(withheld["rights"]) - set(drafted({})["rights"]) == {packs()["general"].text("en").withheld}


def test_a_draft_names_what_it_withheld_and_the_phrases_that_had_a_part_in_it():
    record = {"events": {"check": {"note": "x", "notes": ["y"], "score": 5}}, "outcome": {"action": "denied"}}
    phrases = {key: Phrase(key=key, withheld=True) for key in ("note", "events.check.notes", "nowhere")}
    phrases["score"] = Phrase(key="score", label="points")
    made = whole_draft(record, "general", "en", *phrases.values())
    assert made.withheld == ("events.check.note", "events.check.notes.0")
    assert {phrase.key for phrase in made.phrases} == {"note", "events.check.notes", "score"}


@each_case(
    ("key", "outcome", "is_left_out"),
    [
        ("outcome.key_factors", {"consumer_report_used": True, "score": 5, "key_factors": ["a"]}, True),
        ("outcome.key_factors", {"consumer_report_used": False, "score": 5, "key_factors": ["a"]}, False),
        ("outcome.internal", {"internal": "a note"}, False),
        ("outcome.reason_codes", {"reasons": ["The income is too low."], "reason_codes": ["R1"]}, False),
        ("outcome.reason_codes", {"reasons": [], "reason_codes": ["R1"]}, True),
        ("outcome.action", {"action": " "}, False),
    ],
)
def test_left_out_is_what_a_letter_would_have_told_or_its_pack_asks_for(key: str, outcome: dict, is_left_out: bool):
    phrase, pack = Phrase(key=key, withheld=True), packs()["us_ecoa_fcra"]
    record = {"decided_at": "2026-11-05", "outcome": {"action": "denied", **outcome}}
    facts = Facts(json.dumps(record).encode())
    assert redaction_of(facts, pack, Phrasebook([phrase])).leaves_out is is_left_out
    assert bool(whole_draft(record, pack, "en", phrase).withheld) is is_left_out
