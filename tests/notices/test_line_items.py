"""Decisions about several line items: each item's name, and what was decided about it."""

import pytest

from notices.phrasebook import Phrase
from tests.cases import each_case
from tests.notices.drafts import LANGUAGES, drafted, factors, statement_texts, warnings_of
from tests.notices.test_untold import problems_of, untold_in

VISITS = {
    "service": "Speech therapy",
    "code": "92507",
    "approved_visits": 0,
    "decision": "denied",
    "reason": "No plan.",
}
BED = {"item": "Bed", "claimed": "900 $", "paid": "0 $", "reason": "It was not in the flat."}
BOOKS = {"libellé": "Livres", "montant": "0 €", "statut": "refusé", "motif": "Hors barème."}
CROWN = {"bezeichnung": "Zahnkrone", "bewilligt": "120 €", "status": "gekürzt", "grund": "Die Krone ist zu teuer."}


def summary(outcome: dict, language: str = "en", *phrases: Phrase) -> list[str]:
    sentences = statement_texts(drafted({"outcome": outcome}, "general", language, *phrases), "decision_summary")
    return [sentence.replace("\u00a0:", " :") for sentence in sentences]


@each_case(
    ("language", "line", "decided", "reason"),
    [
        ("en", VISITS, ["Approved visits (Speech therapy): 0.", "Decision (Speech therapy): denied."],
         "Speech therapy: No plan."),
        ("en", BED, ["Claimed (Bed): 900 $.", "Paid (Bed): 0 $."], "Bed: It was not in the flat."),
        ("fr", BOOKS, ["Montant (Livres) : 0 €.", "Statut (Livres) : refusé."], "Livres : Hors barème."),
        ("de", CROWN, ["Bewilligt (Zahnkrone): 120 €.", "Status (Zahnkrone): gekürzt."],
         "Zahnkrone: Die Krone ist zu teuer."),
    ],
)  # fmt: skip
@each_case("within", ["lines", "x", "serviceLines"])
def test_each_line_is_printed_by_its_name_with_its_decision_and_its_reason(language, line, decided, reason, within):
    outcome = {"action": "denied", within: [line]}
    assert summary(outcome, language)[-len(decided) :] == decided
    assert [sentence.replace("\u00a0:", " :") for sentence in factors(outcome, language=language)] == [reason]
    assert not [path for path, kind in untold_in(outcome).items() if kind != "code"]
    record = {"decision_id": "d", "outcome": outcome}
    assert not [row for row in warnings_of(record, "general", language) if "is not in the field" in row.line]


def test_lines_are_printed_one_after_the_other_in_the_record_s_order():
    lines = [BED, {"item": "Lamp", "status": "paid", "claimed": "40 $", "paid": "40 $"}]
    assert [sentence.partition("(")[2][:4] for sentence in summary({"lines": lines}) if "(" in sentence] == [
        "Bed)", "Bed)", "Lamp", "Lamp", "Lamp"
    ]  # fmt: skip


def test_lines_of_one_name_and_lines_without_a_name_have_their_numbers():
    visits = [{"description": "Visit", "paid": 5}, {"description": "Visit", "paid": 0}, {"on": "2026-01-02", "paid": 7}]
    assert summary({"lines": visits}) == [
        "Paid (Visit no. 1): 5.", "Paid (Visit no. 2): 0.",
        "On (lines no. 3): January 2, 2026.", "Paid (lines no. 3): 7.",
    ]  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_name_that_is_withheld_names_no_line(language: str):
    withheld = Phrase("outcome.lines.service", withheld=True), Phrase("service", withheld=True)
    content = drafted({"outcome": {"lines": [VISITS]}}, "general", language, *withheld)
    assert "Speech" not in str(content)


def test_a_sentence_or_a_long_text_names_nothing_and_is_printed_itself():
    for text in ("The visit was not needed.", "x" * 200):
        (described, paid) = summary({"lines": [{"description": text, "paid": 0}]})
        assert text.rstrip(".") in described
        assert paid == "Paid (lines no. 1): 0."


def test_a_reason_for_all_lines_is_not_repeated_for_one():
    outcome = {"reasons": [BED["reason"]], "lines": [BED, BED | {"item": "Lamp", "reason": "It was broken."}]}
    assert factors(outcome) == ["It was not in the flat.", "Lamp: It was broken."]
    assert not problems_of(outcome)


def test_what_was_decided_about_a_line_blocks_where_nothing_tells_it():
    outcome = {"action": "denied", "lines": [BED]}
    assert len(problems_of(outcome, drafted({"outcome": {"action": "denied"}}, "general"))) == 3
    assert untold_in(outcome, drafted({"outcome": {"action": "denied"}}, "general")) == {
        "lines.0.item": "detail", "lines.0.claimed": "term", "lines.0.paid": "term", "lines.0.reason": "reason",
    }  # fmt: skip


def test_a_list_in_which_nothing_was_decided_is_no_list_of_lines():
    assert summary({"action": "approved", "runs": [{"name": "rules", "milliseconds": 3}]})[1:] == []


@pytest.mark.parametrize("key", ["document", "item", "name", "description"])
def test_what_is_missing_is_called_by_its_name(key: str):
    missing = [{key: "Report of the knee", "from": "your surgeon"}, {key: "Notes"}]
    assert summary({"missing": missing}) == [
        "What is still needed: Report of the knee.", "From (Report of the knee): your surgeon.",
        "What is still needed: Notes.",
    ]  # fmt: skip
