"""Proposals of a mapping: most are right, each says why, and what only a person can know is a question."""

import json
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from decisions import samples
from decisions.mapping.suggest import propose
from decisions.mapping.suggest.statistics import MAX_FIELDS, masked
from decisions.record.meanings import Entry
from decisions.record.walk import Table
from tests.cases import each_case


def proposals(*records):
    return {proposal.field.path: proposal for proposal in propose(records)}


def proposed(path, *values):
    """Return the proposal for one field that has these values in sample records."""
    records = []
    for value in values:
        for key in reversed(path.split(".")):
            value = [value] if key == "*" else {key: value}
        records.append(value)
    return proposals(*records)[path]


@each_case(
    ("path", "values", "entry"),
    [
        ("decided_at", ["2026-11-20T10:00:00Z"], {"means": "decided"}),
        ("outcome.effectiveFrom", ["2026-12-01"], {"means": "effective"}),
        ("outcome.offer.expires", ["2026-12-10"], {"means": "offer.until"}),
        ("outcome.decidedAt", [1763632800000], {"means": "decided", "epoch": "milliseconds"}),
        ("outcome.counter.termMonths", [48], {"means": "offer.term", "unit": "months"}),
        ("outcome.offer.amount_usd", [1250], {"means": "offer.amount", "currency": "USD"}),
        ("outcome.declineReasons.*.text", ["Income too low for the amount"], {"means": "reason"}),
        ("outcome.conditions.*", ["Send your last payslip"], {"means": "condition"}),
        ("outcome.missing_documents.*", ["Proof of address"], {"means": "missing"}),
        ("events.coApplicant.bankruptcy", [True], {"means": "not_told", "class": "other_person"}),
        ("events.application.ssn", ["123-45-6789"], {"means": "not_told", "class": "secret"}),
        ("events.profile.maritalStatus", ["single"], {"means": "not_told", "class": "protected"}),
        ("outcome.sarFiled", [True], {"means": "not_told", "class": "internal"}),
        ("events.llm.systemPrompt", ["You are"], {"means": "not_told", "class": "internal"}),
        ("events.bureau.inquiries", [7], {"means": "input", "label": {"en": "bureau inquiries"}}),
        ("outcome.entscheidung", ["abgelehnt"], {"means": "decision"}),
    ],
)
def test_a_field_is_proposed_by_its_names_and_values(path, values, entry):
    proposal = proposed(path, *values)
    assert proposal.question == ""
    assert entry.items() <= proposal.entry.items()
    assert proposal.entry["why"] == proposal.why


@each_case(
    ("path", "values", "question"),
    [
        ("outcome.status", ["DECL", "XQ"], "What do these codes decide: XQ?"),
        ("outcome.declineReasons.*.code", ["R14", "R15"], "What do these codes mean, in words: R14, R15?"),
        ("outcome.counter.amount", [1250000], "Which currency is it in? Does it count cents?"),
        ("outcome.offer.amount_usd", [125000, 98000], "Does it count cents?"),
        ("outcome.buyRate", [Decimal("0.135")], "0.135 may be 13.5 % or 0.135 %."),
        ("outcome.offer.validUntil", ["04/03/2026"], "month first, or day first?"),
        ("outcome.channel", ["web"], "What does it say to the person?"),
    ],
)
def test_what_nobody_can_know_is_a_question(path, values, question):
    assert question in proposed(path, *values).question


def test_questions_come_first():
    listed = propose([{"decision_id": "a", "outcome": {"channel": "web", "status": "DECL"}}])
    assert [bool(proposal.question) for proposal in listed] == [True, False, False]


def test_the_proposed_entries_of_the_samples_fit_their_meanings_and_make_a_mapping():
    records = [
        json.loads(line, parse_float=Decimal)
        for line in (samples.SAMPLES / "synthetic.ndjson").read_text().splitlines()
    ]
    listed = propose(records)
    Table([Entry.model_validate(proposal.entry) for proposal in listed if proposal.entry])
    assert sum(bool(proposal.question) for proposal in listed) < len(listed) / 5


def test_a_number_of_any_length_is_counted():
    assert proposed("outcome.offer.amount_usd", 10**30, Decimal("1e-300")).entry["means"] == "offer.amount"


def test_only_the_first_thousand_fields_are_proposed():
    assert len(propose([{f"f{number}": number for number in range(MAX_FIELDS + 5)}])) == MAX_FIELDS


def test_examples_are_masked():
    proposal = proposed("events.application.name", "Jane Doe 42")
    assert proposal.field.examples == ["xxxx xxx 99"]
    assert masked("ä" * 100) == "x" * 40 + "…"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    )
)
def test_any_record_gets_a_proposal_for_each_field(value):
    record = {"decision_id": "a", "outcome": value}
    listed = propose([record])
    assert {proposal.field.path for proposal in listed} == {scalar.general for scalar in Table([]).walk(record)}
    for proposal in listed:
        if proposal.entry:
            Entry.model_validate(proposal.entry)
