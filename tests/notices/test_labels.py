# ruff: noqa: RUF001 - real dashes and apostrophes
"""Field labels in letters, and the subject of a letter's first sentence."""

import tomllib
from pathlib import Path

import pytest

from notices import drafting, localization
from notices.localization import catalog
from notices.phrasebook import Phrase
from notices.warnings import values
from tests.cases import each_case
from tests.notices.drafts import LANGUAGES, drafted, findings_of, inputs, statement_texts, warnings_of

SUBJECTS = tomllib.loads((Path(drafting.__file__).parent / "subjects.toml").read_text("utf-8"))
ABBREVIATIONS = {
    language: tomllib.loads((Path(localization.__file__).parent / f"{language}.toml").read_text("utf-8"))[
        "abbreviations"
    ]
    for language in LANGUAGES
}


# ── labels ──


@each_case(
    ("name", "label"),
    [
        ("monthlyIncome", "Monthly income"), ("MonthlyIncome", "Monthly income"), ("monthly_income", "Monthly income"),
        ("monthly-income", "Monthly income"), ("MONTHLY_INCOME", "Monthly income"), ("FICOScore", "FICO score"),
        ("ficoScore", "FICO score"), ("fico_score", "FICO score"), ("kyc_result", "Identity check (KYC) result"),
        ("dtiRatio", "Debt-to-income ratio (DTI)"), ("DTI", "Debt-to-income ratio (DTI)"),
        ("max-ltv", "Max loan-to-value ratio (LTV)"), ("cptCode", "Procedure code (CPT)"),
        ("icd10", "Diagnosis code (ICD-10)"), ("ICD-10", "Diagnosis code (ICD-10)"),
        ("icd_10_code", "Diagnosis code (ICD-10)"), ("ICD10Code", "Diagnosis code (ICD-10)"),
        ("apr", "Annual percentage rate (APR)"), ("customerId", "Customer ID"),
        ("Die DTI des Kunden", "Die DTI des Kunden"),
    ],
)  # fmt: skip
def test_a_label_is_made_of_words_in_any_spelling_of_the_name(name: str, label: str):
    assert inputs({name: "x y"}) == [f"{label}: x y."]


@each_case(
    ("language", "fields", "sentence"),
    [
        ("en", {"missed_payments_last12": 2}, "Missed payments last 12: 2."),
        ("en", {"missedPaymentsLast12": 2}, "Missed payments last 12: 2."),
        ("en", {"claims_last12months": 2}, "Claims last 12 months: 2."),
        ("en", {"claimsPer100Miles": 2}, "Claims per 100 miles: 2."),
        ("en", {"claims_per100miles": 2}, "Claims per 100 miles: 2."),
        ("en", {"sha256Sum": "x y", "paper2": "x y"}, "Sha256 sum: x y."),
        ("en", {"claim_free_years": 1}, "Claim free years: 1."),
        ("en", {"creditScore": {"score_date": "x y"}}, "Credit score date: x y."),
        ("de", {"schadenfreie_jahre": 1}, "Schadenfreie Jahre: 1."),
        ("de", {"laufzeit_jahre": 1}, "Laufzeit: 1 Jahr."),
        ("de", {"haushaltsgroesse": 3}, "Haushaltsgröße: 3."),
        ("de", {"einkommen_jaehrlich": "x y"}, "Einkommen jährlich: x y."),
        ("de", {"JAEHRLICHE_MIETHOEHE": "x y"}, "Jährliche Miethöhe: x y."),
        ("de", {"aktuelle_bauweise": "x y"}, "Aktuelle bauweise: x y."),
        ("de", {"Kontoführung": "x y"}, "Kontoführung: x y."),
        ("de", {"monatliche_Rückzahlung": "x y"}, "Monatliche Rückzahlung: x y."),
        ("fr", {"À_partir_du": "x y"}, "À partir du\u00a0: x y."),
        ("fr", {"délai_jours": 12}, "Délai\u00a0: 12\u00a0jours."),
        ("fr", {"montantDéjàVersé": "x y"}, "Montant déjà versé\u00a0: x y."),
        ("fr", {"ÉTAT_DU_COMPTE": "x y"}, "État du compte\u00a0: x y."),
    ],
)
def test_a_label_has_the_words_and_letters_of_its_language(language: str, fields: dict, sentence: str):
    assert inputs(fields, language)[0] == sentence


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_abbreviation_is_written_out_and_warns_of_nothing(language: str):
    for short, full in ABBREVIATIONS[language].items():
        for name in (short.replace(" ", "_"), short.upper().replace(" ", "-"), f"{short.replace(' ', '_')}_limit"):
            assert catalog(language).label(name).startswith(full)
        record = {"events": {"application": {"n": {short.replace(" ", "_"): 7}}},
                  "outcome": {"principal_factors": [{"feature": short, "path": "events.application.n"}]}}  # fmt: skip
        assert findings_of(values, record, "gdpr_22", language) == [], short


# ── the first sentence ──


@each_case(
    ("record", "first"),
    [
        ({"events": {"application": {"amount_requested": 25000, "currency": "USD"}},
          "system": {"purpose": "deciding on consumer credit"}},
         "This is our decision on your loan application for $25,000."),
        ({"events": {"claim": {"amount_claimed": {"value": 120.5, "currency": "EUR"}}}},
         "This is our decision on your claim for €120.50."),
        ({"events": [{"name": "application", "loan_amount_usd": 5}], "system": {"purpose": "mortgage lending"}},
         "This is our decision on your mortgage application for $5."),
        ({"outcome": {"requested_amount_gbp": 350}, "system": {"purpose": "hardship payments"}},
         "This is our decision on your application for benefits for £350."),
        ({"outcome": {"approved_amount": {"amount": 5, "currency": "EUR"}}},
         "This is our decision on your request – approved amount: €5."),
        ({"outcome": {"amount_paid_eur": 5}, "events": {"claim": {}}},
         "This is our decision on your claim – amount paid: €5."),
        ({"events": {"prior_authorization_request": {}}}, "Your prior authorization request was denied."),
        ({"events": {"job_application": {"loan": "none"}}}, "Your job application was denied."),
        ({"events": {"application": {}, "mortgage_offer": {}}}, "Your mortgage application was denied."),
        ({"events": {"application": {"requested_product": "Kreditkarte"}}}, "Your credit card application was denied."),
        ({"subject": {"type": "job applicant"}}, "Your job application was denied."),
        ({"events": {"application": {"product": "home insurance"}}}, "Your insurance application was denied."),
        ({"events": {"application": {}}}, "Your application was denied."),
        ({}, "Your request was denied."),
        ({"events": {"application": {"amount_requested": 5}}}, "Your application was denied."),
    ],
)  # fmt: skip
def test_the_first_sentence_names_the_object_and_the_amount_and_cites_one_field(record: dict, first: str):
    whole = {**record, "outcome": {"action": "denied", **record.get("outcome", {})}}
    summary = drafted(whole)["decision_summary"]
    assert summary[0]["statement"] == first
    assert "was denied" in " ".join(statement_texts({"decision_summary": summary}, "decision_summary")[:2])
    assert not [warning for warning in warnings_of({"decision_id": "d", **whole}) if "not_in_field" in warning.id]


@each_case(
    "record",
    [
        {"events": {"application": {name: "x"}}}
        for name in ("time_at_job", "claim_type", "creditReference", "current_position", "procedure", "loan_amount_usd",
                     "insurance_type_held", "job_type", "mieter_seit")
    ]
    + [
        {"events": {"application": {}, name: {"score": 1}}}
        for name in ("credit_report", "job_history", "insurance-check", "tenantScreening", "loan_bureau_pull")
    ]
    + [{"events": {"application": {}}, "outcome": {name: "x"}} for name in ("claim_type", "job_score", "loan_status")]
    + [{"events": {"application": {}}, "subject": {name: "job"}} for name in ("occupation_type", "time_at_job")],
)  # fmt: skip
def test_what_a_decision_is_about_is_not_guessed_from_what_fields_and_reports_are_called(record: dict):
    whole = {**record, "outcome": {"action": "denied", **record.get("outcome", {})}}
    assert "Your application was denied." in statement_texts(drafted(whole), "decision_summary")


@each_case("subject", SUBJECTS)
def test_every_subject_has_a_name_in_every_language_and_is_known_by_its_words(subject: str):
    for language in LANGUAGES:
        name = catalog(language).subjects[subject]
        for word in SUBJECTS[subject]:
            record = {"system": {"purpose": f"deciding, {word.title()}."}, "outcome": {"action": "denied"}}
            assert name in statement_texts(drafted(record, "general", language), "decision_summary")[0], word


def test_an_amount_that_the_phrasebook_withholds_begins_no_letter():
    record = {"events": {"application": {"amount_requested_usd": 25000}}, "outcome": {"action": "denied"}}
    withheld = Phrase(key="amount_requested_usd", withheld=True)
    assert "25" not in str(statement_texts(drafted(record, "general", "en", withheld)))


def test_the_amount_of_the_first_sentence_is_still_among_the_information_used():
    record = {"events": {"application": {"amount_requested_usd": 25000}}, "outcome": {"action": "denied"}}
    assert statement_texts(drafted(record), "inputs_used") == ["Amount requested: $25,000."]


@each_case(
    ("name", "language", "expected"),
    [
        ("requested_amount_eur", "de", "Beantragter Betrag"),
        ("PaidUntil", "fr", "Versé jusqu’au"),
        ("offene_forderungen", "de", "Offene Forderungen"),
        ("anzahl_personen", "de", "Anzahl Personen"),
        ("gemeldet-betrag", "de", "Gemeldet Betrag"),
        ("kreditbetrag_eur", "de", "Kreditbetrag"),
        ("miete_monatlich", "de", "Miete monatlich"),
    ],
)
def test_names_of_the_profile_are_said_in_the_letter_s_language_and_german_nouns_are_capital(name, language, expected):
    (sentence,) = inputs({name: 5}, language)
    assert sentence.startswith(expected)


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("de", ["Antrag eingegangen am 1. November 2026.", "Score (Auskunft): 5."]),
        ("fr", ["Date de réception (demande)\u00a0: 1er novembre 2026.", "Score (auskunft)\u00a0: 5."]),
    ],
)
def test_event_labels_are_in_the_language_too(language, expected):
    events = {"application": {"received_at": "2026-11-01T00:00:00Z"}, "auskunft": {"score": 5}}
    assert statement_texts(drafted({"events": events}, "general", language), "inputs_used") == expected


@pytest.mark.parametrize(
    ("event", "fields", "language", "expected"),
    [
        ("application", {"kreditbetrag_eur": 14000}, "de", "Darum geht es: Ihr Antrag über 14.000\u00a0€."),
        ("antrag", {"betrag": 14000, "währung": "EUR", "produkt": "Ratenkredit"}, "de",
         "Darum geht es: Ihr Kreditantrag über 14.000\u00a0€."),
        ("demande", {"montant_eur": 3000, "produit": "prêt auto"}, "fr",
         "Cette décision porte sur votre demande de prêt de 3\u202f000\u00a0€."),
    ],
)  # fmt: skip
def test_a_letter_begins_with_the_object_and_amount_of_german_and_french_records(event, fields, language, expected):
    record = {"events": {event: fields}, "outcome": {"action": "denied"}}
    assert statement_texts(drafted(record, "general", language), "decision_summary")[0] == expected


@each_case(
    ("fields", "label"),
    [
        ({"provider_npi": "x"}, "Provider number (NPI)"), ({"provider": {"npi_number": "x"}}, "Provider number (NPI)"),
        ({"policy_policy_number": "x"}, "Policy number"), ({"claim_number": {"number": "x"}}, "Claim number"),
        ({"vehicle": {"vehicle_vin": "x"}}, "Vehicle number (VIN)"), ({"days_90_90": "x"}, "Days 90 90"),
    ],
)  # fmt: skip
def test_no_label_says_a_word_twice(fields: dict, label: str):
    assert inputs(fields) == [f"{label}: x."]


def test_a_colleague_s_internal_name_is_not_printed_where_a_pack_asks_who_took_part():
    approval = {"approver": "appeals-2", "human_involvement": "decided_by_human"}
    for pack in ("us_ca_admt", "us_co_admt", "gdpr_22"):
        letter = drafted({"approval": approval, "outcome": {"action": "denied"}}, pack)
        assert "ppeals" not in " ".join(statement_texts(letter))


@pytest.mark.parametrize(
    ("plan", "cited"),
    [("ERISA", "benefits (29 CFR 2560.503-1"), ("marketplace", "45 CFR 147.136"), ("MA", "42 CFR 422.568)")],
)
def test_a_health_letter_names_the_rules_of_the_person_s_plan(plan: str, cited: str):
    named = {
        plan_type: drafted({"subject": {"plan_type": plan_type}, "outcome": {"action": "denied"}}, "us_health_denial")[
            "framework"
        ]
        for plan_type in ("ERISA", "marketplace", "MA")
    }
    assert cited in named.pop(plan)
    assert not [label for label in named.values() if cited in label]
