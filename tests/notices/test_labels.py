# ruff: noqa: RUF001 - real dashes and apostrophes
"""Labels that letters make of the names of fields, and names that they never print."""

import pytest

from notices.localization import catalog
from tests.cases import each_case
from tests.notices.drafts import drafted, statement_texts


@each_case(
    ("name", "language", "label"),
    [
        ("monthlyIncome", "en", "monthly income"), ("MONTHLY_INCOME", "en", "monthly income"),
        ("FICOScore", "en", "FICO score"), ("kyc_result", "en", "identity check (KYC) result"),
        ("dtiRatio", "en", "debt-to-income ratio (DTI)"), ("max-ltv", "en", "max loan-to-value ratio (LTV)"),
        ("ICD10Code", "en", "diagnosis code (ICD-10)"), ("customerId", "en", "customer ID"),
        ("provider_npi", "en", "provider number (NPI)"), ("vehicle_vehicle_vin", "en", "vehicle number (VIN)"),
        ("haushaltsgroesse", "de", "Haushaltsgröße"), ("JAEHRLICHE_MIETHOEHE", "de", "jährliche Miethöhe"),
        ("offene_forderungen", "de", "offene Forderungen"), ("requested_amount", "de", "beantragter Betrag"),
        ("montantDéjàVersé", "fr", "montant déjà versé"), ("PaidUntil", "fr", "versé jusqu’au"),
    ],
)  # fmt: skip
def test_a_label_has_the_words_of_its_language_in_any_spelling_of_the_name(name, language, label):
    assert catalog(language).label(name).casefold() == label.casefold()


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
