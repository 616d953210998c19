# ruff: noqa: RUF001 - real dashes and apostrophes, and scripts of either direction
"""Whole letters about the sample data, as their readers get them."""

import csv
import re

import pytest

from decisions import samples
from notices import checklist
from notices.management.commands.import_phrasebook import COLUMNS
from notices.warnings import values
from tests.cases import each_case
from tests.notices.drafts import (
    END_MARKS,
    LANGUAGES,
    checked_draft,
    drafted,
    sample,
    sample_phrases,
    statement_texts,
    under_each_pack,
)


def test_a_claim_in_english():
    content = drafted(sample("synthetic-insurance-03"), "gdpr_22")
    assert statement_texts(content, "decision_summary")[:4] == [
        "Your claim was approved in part.",
        "The decision was made on 10 November 2026.",
        "The decision takes effect on 10 November 2026.",
        "Amount paid: €9,280.",
    ]
    assert "Child seat: €180 – this counted for you." in statement_texts(content, "main_factors")
    assert "Market value (valuation)." in statement_texts(content, "inputs_used")


DENIALS = [raw for raw in samples.mortgage_records() if b'"denied"' in raw]
ROUGH = re.compile(r"\b\d+ used\b|(?<!\.)\.\.(?!\.)|[a-z]_[a-z]|[{}\n]| {2}|: \.|: *$")


@pytest.mark.slow
@pytest.mark.parametrize("with_phrasebook", [True, False])
def test_no_letter_about_the_sample_data_reads_like_a_record(with_phrasebook: bool):
    phrases = {language: sample_phrases(language) if with_phrasebook else [] for language in LANGUAGES}
    records = under_each_pack([*samples.synthetic_records(), *DENIALS[with_phrasebook::12]])
    content = [drafted(raw, pack, language, *phrases[language]) for raw, pack, language in records]
    lines = {line for letter in content for line in statement_texts(letter)}
    assert len(DENIALS) == 285
    assert len(lines) > 500
    assert [line for line in lines if ROUGH.search(line) or not line.endswith(END_MARKS) or line[0].islower()] == []


@each_case(("raw", "pack", "language"), under_each_pack(samples.synthetic_records()))
def test_a_draft_of_a_sample_leaves_out_no_reason_or_term_and_says_what_its_fields_have(raw, pack, language):
    checked, content = checked_draft(raw, pack, language)
    assert [field for field in checklist.untold_fields(checked, content) if field.blocks] == []
    assert list(values.findings(checked, content)) == []


def test_the_sample_phrasebook_has_the_columns_that_are_imported():
    with open(samples.SAMPLES / "phrasebook.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert set(rows[0]) == set(COLUMNS)
    keys = [(row["language"], row["key"]) for row in rows]
    assert len(keys) == len(set(keys))
