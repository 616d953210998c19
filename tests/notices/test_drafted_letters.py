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
    whole_draft,
)


def test_a_claim_in_english():
    content = drafted(sample("synthetic-insurance-03"), "gdpr_22")
    assert statement_texts(content, "decision_summary")[:5] == [
        "This is our decision on your claim for €11,220.",
        "Your claim was approved in part.",
        "The decision was made on 10 November 2026.",
        "The decision takes effect on 10 November 2026.",
        "Amount paid: €9,280.",
    ]
    assert statement_texts(content, "role_of_automated_system") == [
        "We used the automated system Example Claims Assessor.",
        "The system’s version was 3.8.0.",
        "The system was provided by Example Claims Technology DAC.",
        "The purpose of the system: choosing between repair and settlement at market value for motor damage claims.",
        "The decision was made by the automated system alone.",
        "The legal basis of the decision is a contract.",
    ]
    assert statement_texts(content, "main_factors")[2:5] == [
        "Repair cost to value: 0.92 – this counted against you.",
        "Vehicle age: 6 years – this counted against you.",
        "Child seat: €180 – this counted for you.",
    ]
    assert statement_texts(content, "inputs_used") == [
        "Claim received on 6 November 2026.",
        "Claim number: CL-2026-0003.",
        "Incident date: 5 November 2026.",
        "Items claimed: vehicle repair.",
        "Items claimed: child seat.",
        "Policy excess: €300.",
        "Photos (document check): 8.",
        "Repair estimate: €11,040.",
        "Estimate source: Example Repair Network.",
        "Market value: €12,000.",
        "Salvage value: €2,600.",
        "Source (valuation): Example Vehicle Values.",
        "Inputs vehicle odometer: 98,400 km.",
        "Policy limit: 0.7.",
    ]


def test_an_application_in_german_in_the_sample_phrasebook_s_words():
    content = drafted(sample("synthetic-insurance-01"), "gdpr_22", "de", *sample_phrases("de"))
    assert statement_texts(content, "decision_summary")[:3] == [
        "Darum geht es: Ihr Versicherungsantrag über 400.000\u00a0€.",
        "Ihr Versicherungsantrag wurde abgelehnt.",
        "Die Entscheidung wurde am 21. Oktober 2026 getroffen.",
    ]
    assert "Die Entscheidung hat ein Mensch getroffen." in statement_texts(content, "role_of_automated_system")
    assert "Größte Tauchtiefe in Metern: 45 – das sprach gegen Sie." in statement_texts(content, "main_factors")
    assert statement_texts(content, "inputs_used")[:6] == [
        "Antrag eingegangen am 5. Oktober 2026.",
        "Produkt: Risikolebensversicherung.",
        "Versicherungssumme: 400.000\u00a0€.",
        "Laufzeit: 20 Jahre.",
        "Weg des Antrags: Maklerportal.",
        "Anschrift: Beispielstraße 3.",
    ]


def test_a_reduced_benefit_in_french():
    content = drafted(sample("synthetic-benefits-01"), "gdpr_22", "fr")
    assert statement_texts(content, "decision_summary")[:5] == [
        "Voici notre décision sur votre demande de prestations – montant mensuel\u00a0: 142,50\u00a0€.",
        "Nous avons décidé une réduction.",
        "La décision a été prise le 4 novembre 2026.",
        "La décision prend effet le 1er décembre 2026.",
        "Montant mensuel précédent\u00a0: 236\u00a0€.",
    ]
    assert "Une personne a examiné le dossier avant la décision." in statement_texts(
        content, "role_of_automated_system"
    )
    assert "Monthly rent\u00a0: 690\u00a0€ – cela a joué en votre faveur." in statement_texts(content, "main_factors")
    assert statement_texts(content, "inputs_used")[:4] == [
        "Date de réception (declaration)\u00a0: 26 octobre 2026.",
        "Household size\u00a0: 3.",
        "Address unchanged\u00a0: oui.",
        "Source (income check)\u00a0: Example Fichier fiscal.",
    ]
    assert "Salaire net annual (household, members n°\u00a01, revenu)\u00a0: 16\u202f920\u00a0€." in statement_texts(
        content
    )


def test_a_real_denial_in_the_sample_phrasebook_s_words():
    raw = next(raw for raw in samples.mortgage_records() if b'"boston-hmda-1990-9"' in raw)
    assert statement_texts(drafted(raw, "us_ecoa_fcra", "en", *sample_phrases("en"))) == [
        "Your application was denied.",
        "Your monthly debt payments were 0.31 times your income.",
        "Your housing costs were 0.24 times your income.",
        "The loan you asked for was 0.897 times the home’s assessed value.",
        "Your history of paying consumer credit was rated 2, on a scale from 1 (no slow payments) to 6 "
        "(serious delinquencies).",
        "Your history of paying mortgages was rated 2, on a scale from 1 (no late payments) to 4 "
        "(more than two late payments).",
        "Bankruptcy, charge-off or collection on record: no.",
        "Unemployment in your industry was 3.1 percent in Massachusetts in 1989.",
        "Self-employed: no.",
        "Mortgage insurance applied for and denied: yes.",
        "The home is a condominium: no.",
        "High school diploma: yes.",
    ]


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


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_phrase_of_the_sample_phrasebook_says_something_about_the_sample_data(language: str):
    records, phrases = [*samples.synthetic_records(), DENIALS[0]], sample_phrases(language)
    drafts = [(raw, whole_draft(raw, "general", language, *phrases)) for raw in records]
    for left_out in phrases:
        others = [phrase for phrase in phrases if phrase is not left_out]
        with_it = [(raw, draft) for raw, draft in drafts if left_out in draft.phrases]
        assert any(
            statement_texts(drafted(raw, "general", language, *others)) != statement_texts(draft.content)
            for raw, draft in with_it
        ), left_out.key


def test_the_sample_phrasebook_has_the_columns_that_are_imported():
    with open(samples.SAMPLES / "phrasebook.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert set(rows[0]) == set(COLUMNS)
    keys = [(row["language"], row["key"]) for row in rows]
    assert len(keys) == len(set(keys))
