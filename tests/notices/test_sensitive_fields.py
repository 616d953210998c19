# ruff: noqa: RUF001 - real dashes
"""Sensitive fields are in no letter by default: identifiers, account numbers, secrets, data about other people."""

import json
from decimal import Decimal

import pytest

from accounts.models import AuditEvent
from accounts.roles import Role
from notices.drafting import draft
from notices.models import NoticeSettings
from notices.packs import packs
from notices.phrasebook import Phrase, Phrasebook
from notices.record_paths import Facts
from notices.sensitive import sensitive_fields
from notices.sensitive.values import is_card_number, is_iban, kinds
from tests.cases import each_case
from tests.notices.conftest import done, drafted, edit, send, shown
from tests.notices.drafts import EVERY, factors, statement_texts, warnings_of, whole_draft
from tests.notices.drafts import drafted as draft_of

SECRET = "canary"
CARD, IBAN = "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00"


def withheld(record: dict, language: str = "en", pack: str = "general") -> bool:
    """Whether a letter says that something is left out. It does so exactly when it lacks SECRET."""
    content = draft_of(record, pack, language)
    says_so = packs()[pack].text(language).withheld in content["rights"]
    assert says_so == (SECRET not in json.dumps(content))
    return says_so


@each_case(
    "name",
    [
        "ssn", "SSN", "applicantSSN", "applicant_ssn_last4", "social-security-number", "socialSecurityNo", "nino",
        "sin", "NIR", "national insurance number", "steuer-id", "SteuerID", "Steueridentifikationsnummer",
        "numéro_de_sécurité_sociale", "aadhaarNumber", "passportNo", "passport", "driving_licence_number",
        "driversLicense", "taxpayerId", "nationalIDs", "iban", "IBANs", "accountNumber", "bank_account_number",
        "acct_no", "cardNumber", "creditcardnumber", "cvv", "sort_code", "password", "userPassword", "access_token",
        "pin", "pinCode", "SECURITY_ANSWER", "mothers_maiden_name", "maidenName", "geburtsname", "nom_de_jeune_fille",
        "coApplicantIncome", "co-borrower_score", "spouse_name", "guarantor", "household_members",
        "ehepartner_einkommen", "conjoint_revenu", "dependants_names", "next_of_kin", "emergencyContact",
        "professional_references",
        "card_num", "acct_num", "acctNbr", "bankAcct", "cc_num", "card nbr", "iban-nr", "ssn_check", "driver's license",
        "driver’s licence", "DriverLic", "soc_sec_no", "Steuer-Nr.", "n° de compte", "p\u0430ssword", "s\u200bsn",
        "psychotherapy_notes", "internalNotes", "internal_comment", "underwriter_comments", "fraudFlag", "siu_referral",
        "fraud_investigation_status", "interner Vermerk", "commentaire_interne",
    ],
)  # fmt: skip
def test_a_sensitive_field_is_withheld_however_it_is_spelled(name: str):
    assert withheld({"events": {"application": {name: SECRET, "income": 7}}})


@each_case(
    "fields",
    [
        {"passport": {"number": SECRET}},
        {"account": {"number": SECRET}},
        {"spouse": {"employer": {"name": SECRET}}},
        {"co_applicants": [{"jobs": [SECRET]}]},
        {"parties": [{"role": "joint applicant", "employer": SECRET}]},
        {"parties": [{"relationship": "spouse of applicant", "employer": SECRET}]},
        {"identifiers": [{"type": "ssn", "value": SECRET}]},
        {"answers": [{"field": "mother's maiden name", "value": SECRET}]},
        {"answers": [{"question": "Mother's maiden name", "answer": SECRET}]},
        {"answers": [{"question": "What is your PIN?", "Answer": SECRET}]},
        {"fragen": [{"frage": "Wie lautet Ihre Steuer-ID?", "antwort": SECRET}]},
        {"item": [{"linkId": "3", "text": "Your passport number", "answer": [{"valueString": SECRET}]}]},
        {"data": [{"id": "ssn", "value": SECRET}]},
        {"data": [{"Key": "ssn", "Value": SECRET}]},
        {"identifier": [{"system": "http://hl7.org/fhir/sid/us-ssn", "value": SECRET}]},
        {"identifier": [{"system": "urn:oid:2.16.840.1.113883.4.1", "value": SECRET}]},
        {"identifier": [{"type": {"text": "Social Security Number"}, "value": SECRET}]},
        {"identifier": [{"type": {"coding": [{"code": "SS", "display": "Social Security number"}]}, "value": SECRET}]},
        {
            "attributes": [{"attributeName": "SSN", "attributeValue": SECRET}],
            "pairs": [["ssn", SECRET], ["pin", SECRET]],
        },
        {"data": [{"field": "ssn", "val": SECRET}, {"key": "ssn", "valueString": SECRET}]},
        {"documents": [{"documentType": "PASSPORT", "documentNumber": SECRET}]},
        {"parties": [{"partyRole": "GUARANTOR", "employer": SECRET}]},
        {"applicants": [{"income": 7}, {"employer": SECRET}]},
        {"applicants": [{"applicantType": "Primary"}, {"applicantType": "JOINT", "employer": SECRET}]},
        {"borrowers": [{"isPrimary": True}, {"isPrimary": False, "employer": SECRET}]},
        {"applicants": {"primary": {"income": 7}, "secondary": {"employer": SECRET}}},
        {"household": [{"relationship": "self", "income": 7}, {"first_name": "Ann", "employer": SECRET}]},
        {"antragsteller": [{"rolle": "Antragsteller"}, {"rolle": "Mitantragsteller", "arbeitgeber": SECRET}]},
        {"personnes": [{"rôle": "co-emprunteur", "employeur": SECRET}]},
        {"4111111111111111": SECRET},
        {"078-05-1120": {"employer": SECRET}},
    ],
)
def test_the_names_around_a_field_show_its_meaning(fields: dict):
    assert withheld({"events": {"application": fields}})


def test_an_event_about_another_person_is_withheld_in_both_shapes():
    assert withheld({"events": {"guarantor": {"employer": SECRET}}})
    assert withheld({"events": [{"name": "guarantor_check", "employer": SECRET}]})


@each_case(
    "fields",
    [
        {"ssn_verified": SECRET},
        {"ssn_match": True, "note": SECRET},
        {"passport_expiry_date": SECRET},
        {"dependants": 2, "number_of_children": "3", "has_co_applicant": True, "note": SECRET},
        {"account_balance": SECRET},
        {"credit_card_utilization": SECRET},
        {"child_support": SECRET},
        {"relative_risk": SECRET},
        {"token_count": SECRET},
        {"driving_licence_years": SECRET},
        {"household_size": 3, "note": SECRET},
        {"household": {"members": [{"role": "applicant", "employer": SECRET}]}},
        {"applicants": [{"employer": SECRET}]},
        {"applicants": [{"role": "Primary Applicant", "employer": SECRET}, {"applicantType": "self", "income": 7}]},
        {"household": [{"size": 3, "note": SECRET}]},
        {"parties": [{"role": "applicant"}, {"role": "lender", "name": SECRET}]},
        {"answers": [{"question": "Was the account opened this year?", "answer": SECRET}]},
        {"data": [{"type": "card", "text": SECRET}, {"id": "account_age", "value": SECRET}]},
        {"items": [{"role": "other", "text": SECRET}]},
        {"card_type": SECRET, "account_age": SECRET, "age of account": SECRET, "application_reference_number": SECRET},
        {"accounts": [3, 5], "notes": SECRET, "fraud_score": SECRET, "password_required": True},
    ],
)
def test_a_field_that_only_resembles_a_sensitive_one_is_printed(fields: dict):
    assert not withheld({"events": {"application": fields}})


@each_case(
    "value",
    [
        CARD, IBAN, f"Paid to {IBAN} on Monday.", "SSN 078-05-1120", "AB 12 34 56 C", 4111111111111111,
        "The password: hunter2", "PIN 1234", "His pin is 123456.", "Passwort lautet geheim", "mot de passe : soleil",
        "api_key=x7", "CVV 123", "Mother's maiden name is Smith.", "passport no. 533380006", CARD.split(" "),
        [*CARD.replace(" ", "")],
        {"area": "078", "group": "05", "serial": "1120"},
    ],
)  # fmt: skip
def test_a_sensitive_value_is_withheld_whatever_its_field_is_called(value):
    content = draft_of({"events": {"application": {"memo": value, "income": 7}}})
    assert statement_texts(content, "inputs_used") == ["Income: 7."]


@each_case(
    "value",
    [
        "4111 1111 1111 1112",
        "DE89 3704 0044 0532 0130 01",
        "000-12-3456",
        1730000000000000,
        "1E400",
        10**30,
        "The password is missing.",
        "Your password was reset; pin it to the board.",
        "2 PINs of 4 digits",
        "account number unknown",
        Decimal("1E+5000"),
        True,
    ],
)
def test_a_number_that_is_none_of_these_is_printed(value):
    assert list(kinds(value)) == []


def test_check_digits_are_those_of_the_standards():
    assert all(
        map(
            is_card_number,
            ["4111111111111111", "378282246310005", "5555555555554444", "6011111111111117", "30569309025904"],
        )
    )
    assert not any(map(is_card_number, ["4111111111111112", "9111111111111111", "41111111111111", ""]))
    assert all(map(is_iban, ["GB82WEST12345698765432", "FR1420041010050500013M02606", "NO9386011117947"]))
    assert not any(map(is_iban, ["GB82WEST12345698765433", "XX82WEST12345698765432", "GB82"]))


def test_a_value_far_into_a_long_text_is_found_once_for_any_number_of_factors():
    text = "word " * 2000 + CARD
    record = {
        "events": {"check": {"memo": text}},
        "outcome": {"principal_factors": [{"path": "events.check.memo"}] * 50},
    }
    content = draft_of(record)
    assert content["main_factors"] == content["inputs_used"] == []


@each_case(("pack", "language"), EVERY)
def test_no_pack_prints_one_and_each_says_that_something_is_left_out_without_a_reason_for_it(pack: str, language: str):
    record = {"events": {"application": {"ssn": SECRET}}, "outcome": {"action": "denied"}}
    assert withheld(record, language, pack)
    sentence = packs()[pack].text(language).withheld
    assert not any(
        claim in sentence.lower()
        for claim in ("secret", "security", "protect trade", "geheim", "law lets", "to protect")
    )


# ── numbers under their short and foreign names ──


@each_case(
    "name",
    [
        "s_s_n", "S.S.N.", "ss_number", "socialNumber", "passnummer", "pass_no", "persoNr", "mmn", "last4",
        "card_last4", "account_last_4", "last_4_digits", "avs_no", "ahv_nr", "AHVNr", "numero_secu", "numéro-sécu",
        "carte_vitale", "sozialversicherungsnr", "RVNR", "nhsNo", "cnp", "jmbg", "isikukood", "cnic", "emirates_id",
        "fødselsnummer", "medicare_id", "member_id", "memberNumber", "MRN", "patientID", "Versicherten-Nr.",
        "numéro d’adhérent", "neighbour_income", "landlord", "Vermieter", "voisin_revenu", "kids_names",
    ],
)  # fmt: skip
def test_a_number_of_a_person_is_withheld_by_its_short_and_foreign_names(name: str):
    assert withheld({"events": {"application": {name: SECRET, "income": 7}}})


@each_case(
    ("name", "value", "is_number"),
    [("social", "078 05 112", True), ("steuer", "12 345 678 901", True), ("Steuer", 12345678901, True),
     ("perso", "L01X00T471", True), ("rut", "12.345.678-5", True), ("RG", "12.345.678-9", True),
     ("social", "low", False), ("steuer", 120000, False), ("steuer", "4500 EUR", False), ("perso", "gold", False),
     ("rut", "3 cm", False), ("social", 7, False), ("kids", 2, False), ("landlord_tenant_judgments", 2, False),
     ("last_four_quarters", 3, False), ("last_4_months_income", 4000, False), ("nearest_neighbour_distance", 3, False)],
)  # fmt: skip
def test_a_name_with_several_meanings_is_a_number_where_its_value_is_one(name: str, value, is_number: bool):
    content = draft_of({"events": {"application": {name: value, "rooms": 7}}})
    assert (len(statement_texts(content, "inputs_used")) == 1) == is_number


@each_case(
    "text",
    [
        "Passport C01X00T47", "My passport is C01X00T47.", "Reisepass Nr. C01X00T47", "passeport n° 12AB34567",
        "NIR 1 85 05 78 006 084 36", "NHS number 943 476 5919", "AHV 756.1234.5678.97", "Steuer-ID: 12 345 678 901",
        "RVNR 65 170839 J 003", "MRN 00123456", "Member ID W123456789", "Medicare 1EG4-TE5-MK73",
    ],
)  # fmt: skip
def test_a_text_that_tells_a_number_after_its_name_is_withheld(text: str):
    content = draft_of({"events": {"application": {"memo": f"Seen: {text}", "income": 7}}})
    assert statement_texts(content, "inputs_used") == ["Income: 7."]


@each_case(
    "text",
    [
        "The passport expired on 2026-11-02.", "Passport: 2026-11-02", "Pass 12.05.2026", "The NHS paid 12,500 pounds.",
        "Medicare 2026 pays 80 percent of it.", "Passed 12 of 14 tests in 2026.", "Her pass 3", "Member since 2011",
        "My wife Anna earns 3000.", "Medicare paid $1,234.56 in 2026.",
    ],
)  # fmt: skip
def test_a_day_or_an_amount_after_such_a_name_is_printed(text: str):
    assert list(kinds(text)) == []


@each_case(
    ("name", "parts"),
    [("x", [4111, 1111, 1111, 1111]), ("cc_parts", [4111, 1111, 1111, 1111]), ("y", [3782, 822463, 10005]),
     ("groups", [5555, 5555, 5555, 4444]), ("z", [4000, 0, 0, 2]), ("digits", [int(d) for d in "4111111111111111"])],
)  # fmt: skip
def test_the_parts_of_a_card_number_are_withheld_also_as_numbers(name: str, parts: list[int]):
    content = draft_of({"events": {"application": {name: parts, "income": 7}}})
    assert statement_texts(content, "inputs_used") == ["Income: 7."]


@each_case(
    ("name", "parts"),
    [("monthly_incomes", [4111, 1111, 1111, 1111]), ("x", [4111, 1111, 1111, 1112]), ("x", [4111, 1111, 1111]),
     ("rents", [5555, 5555, 5555, 4444]), ("x", [9111, 1111, 1111, 1111]), ("readings", [4200, 4100, 4300, 4250])],
)  # fmt: skip
def test_other_numbers_in_a_list_are_printed(name: str, parts: list[int]):
    assert statement_texts(draft_of({"events": {"application": {name: parts}}}), "inputs_used")


# ── reasons and factors ──


def test_a_sensitive_factor_keeps_its_name_and_direction_and_loses_its_value():
    events = {"check": {"guarantor_income": 20}}
    factor = {
        "factor": "guarantor_income",
        "path": "events.check.guarantor_income",
        "value": 20,
        "direction": "adverse",
    }
    assert factors({"principal_factors": [factor]}, events) == ["Guarantor income – this counted against you."]
    phrase = Phrase("guarantor_income", label="What your guarantor earns")
    assert factors({"principal_factors": [factor]}, events, "en", phrase) == [
        "What your guarantor earns – this counted against you."
    ]
    record = {"events": events, "outcome": {"action": "denied", "principal_factors": [factor]}}
    assert not [warning for warning in warnings_of(record) if warning.id.startswith("withheld_reason")]


def test_a_reason_with_a_sensitive_value_does_not_vanish_in_silence():
    record = {
        "outcome": {"action": "denied", "reasons": [f"The account {IBAN} was overdrawn.", "The income is too low."]}
    }
    assert statement_texts(draft_of(record), "main_factors") == ["The income is too low."]
    [warning] = [row for row in warnings_of(record) if row.id.startswith("withheld_reason")]
    assert "outcome.reasons.0 is withheld as sensitive (card and account numbers)" in warning.sentence
    assert IBAN not in warning.sentence


def test_a_sensitive_value_typed_by_a_person_warns():
    item = {"statement": f"Your card {CARD} was refused.", "source": "outcome.action"}
    warning_ids = [warning.id for warning in warnings_of({"outcome": {"action": "denied"}}, main_factors=[item])]
    assert any(warning_id.startswith("sensitive_value") for warning_id in warning_ids)


# ── an organization's own list ──


def test_an_organization_adds_names_and_takes_others_off():
    record = {
        "events": {"application": {"badge_no": "B7", "guarantor": {"income": 5}, "ssn": "x", "policyNumber": CARD}}
    }
    fields = sensitive_fields(("badgeNo",), ("Guarantor", "policy_number"))
    content = whole_draft(record).content
    assert statement_texts(content, "inputs_used") == ["Badge no: B7."]
    own = draft(Facts(json.dumps(record).encode()), packs()["general"], "en", Phrasebook((), fields), {})
    assert statement_texts(own.content, "inputs_used") == ["Guarantor income: 5.", f"Policy number: {CARD}."]
    assert own.withheld == ("events.application.badge_no", "events.application.ssn")


@pytest.mark.django_db
def test_the_lists_are_settings_that_others_leave_alone_and_the_audit_trail_keeps(api):
    settings = {
        "default_pack": "general",
        "sensitive_fields": ["badge_no", "badge_no "],
        "printable_fields": ["guarantor"],
    }
    assert done(send(api, "PUT", "notice-settings", settings))["sensitive_fields"] == ["badge_no"]
    answer = done(send(api, "PUT", "notice-settings", {"default_pack": "general"}))
    assert (answer["sensitive_fields"], answer["printable_fields"]) == (["badge_no"], ["guarantor"])
    detail = AuditEvent.objects.filter(verb="notice_settings.changed").order_by("pk").first().detail
    assert (detail["sensitive_fields"], detail["printable_fields"]) == (["badge_no"], ["guarantor"])


@pytest.mark.django_db
@pytest.mark.parametrize("wrong", [[""], ["\x00a"], ["--"], ["x" * 101], ["a"] * 501, "ssn"])
def test_a_name_that_no_field_can_have_is_refused(api, wrong):
    answer = send(api, "PUT", "notice-settings", {"default_pack": "general", "sensitive_fields": wrong})
    assert answer.status_code == 422


@pytest.mark.django_db
def test_a_field_is_not_on_both_lists(api, signed_in):
    both = {"default_pack": "general", "sensitive_fields": ["badgeNo"], "printable_fields": ["badge_no"]}
    answer = send(api, "PUT", "notice-settings", both)
    assert (answer.status_code, "badgeNo" in answer.json()["detail"][0]["msg"]) == (422, True)
    assert not NoticeSettings.objects.exists()
    page = "/admin/notices/noticesettings/"
    owner = signed_in(Role.OWNER)
    entered = {
        "default_pack": "general",
        "at_risk_days": "7",
        "sensitive_fields": "badgeNo\n\nlocker",
        "printable_fields": "badge_no",
    }
    assert owner.submit(page, **entered).status_code == 422
    assert owner.submit(page, **{**entered, "printable_fields": "guarantor"}).status_code == 302
    row = NoticeSettings.objects.get()
    assert (row.sensitive_fields, row.printable_fields) == (["badgeNo", "locker"], ["guarantor"])
    shown_page = owner.get(page).content.decode()
    assert "badgeNo\nlocker</textarea>" in shown_page
    assert "social security number" in shown_page, "the default list is shown"


# ── notices ──

RECORD = {
    "decision_id": "loan-1",
    "events": {"application": {"ssn": SECRET, "income": 7}},
    "outcome": {"action": "denied"},
}


@pytest.mark.django_db
def test_a_sensitive_field_is_not_cited_by_hand_nor_offered_to_editors(api, signed_in):
    done(api.ingest(RECORD))
    notice = drafted(api)
    own = [{"statement": "A number.", "source": "events.application.ssn"}]
    answered = done(edit(api, notice, inputs_used=own))
    problems = [warning["sentence"] for warning in answered["warnings"]]
    assert [
        text for text in problems if "events.application.ssn is withheld as sensitive (national identifiers" in text
    ]
    assert SECRET not in " ".join(problems)
    done(edit(api, notice, inputs_used=[]))
    form = signed_in(Role.EDITOR).get(f"/admin/notices/notice/{notice['notice_id']}/edit/")
    assert form.status_code == 200
    assert "events.application.income" in form.content.decode()
    assert SECRET not in form.content.decode()


@pytest.mark.django_db
def test_a_draft_follows_the_settings_of_its_organization(api):
    done(
        send(
            api,
            "PUT",
            "notice-settings",
            {"default_pack": "general", "sensitive_fields": ["income"], "printable_fields": ["ssn"]},
        )
    )
    done(api.ingest(RECORD))
    content = shown(api, drafted(api))["content"]
    assert statement_texts(content, "inputs_used") == ["Ssn: canary."]


@each_case(
    "text",
    [
        "4111\u00a01111\u00a01111\u00a01111", "4111\u20111111\u20111111\u20111111", "4111\u200b111111111111",
        "4111.1111.1111.1111",        "VISA_4111111111111111_x", "card4111111111111111", "4111111111111111,5",
        "".join(chr(0x660 + int(digit)) for digit in "4111111111111111"),
        "DE89-3704-0044-0532-0130-00", "DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000",
        "078\u201105\u20111120", "078 05 1120", "078.05.1120", "SSN: 078051120", "ab123456c", "AB-12-34-56-C",
    ],
)  # fmt: skip
def test_a_number_is_recognized_with_any_separators(text):
    assert list(kinds(text)) != []


@pytest.mark.parametrize(
    "factor",
    [
        {"label": "Applicant group", "feature": "race", "value": "Black"},
        {"name": "Profile", "code": "SEX", "value": "F77"},
        {"label": "File", "feature": "ssn", "value": "123"},
        {"name": "File mark", "path": "events.application.passport_number", "value": "C01X"},
    ],
)
def test_a_harmless_label_hides_no_name_of_a_factor(factor):
    record = {"decision_id": "d", "outcome": {"action": "denied", "principal_factors": [factor]}}
    text = json.dumps(draft_of(record, "us_ecoa_fcra"))
    assert factor["value"] not in text


@pytest.mark.parametrize(
    "outcome",
    [
        {"conditions": [{"type": "guarantor", "text": "A guarantor must sign.", "name": "Jane Example"}]},
        {"conditions": {"guarantor": "must sign by 1 December 2026"}},
        {"offer": {"amount": 5000, "currency": "USD", "co_signer": "required"}},
        {"terms": {"child": 500, "rate": 0.05}},
    ],
)
def test_a_condition_or_term_that_is_withheld_is_warned_about(outcome):
    record = {"decision_id": "d", "outcome": {"action": "approved with conditions", **outcome}}
    assert any(warning.id.startswith("withheld_term") for warning in warnings_of(record, "us_ecoa_fcra"))


@pytest.mark.parametrize(
    ("outcome", "path"),
    [
        ({"guarantor": "You must bring a guarantor by 1 December 2026."}, "outcome.guarantor"),
        ({"co_signer": {"until": "when", "name": SECRET}}, "outcome.co_signer"),
        ({"bring": {"passport": SECRET}}, "outcome.bring"),
        ({"zusage": {"ehepartner": "muss mitunterschreiben"}}, "outcome.zusage"),
        ({"next_steps": [f"Pay the fee to {IBAN}."]}, "outcome.next_steps"),
    ],
)
def test_what_the_outcome_has_and_is_withheld_is_warned_about_whatever_its_name(outcome: dict, path: str):
    record = {"decision_id": "d", "outcome": {"action": "denied", "reasons": ["The income is too low."], **outcome}}
    [warning] = [row for row in warnings_of(record, "us_ecoa_fcra") if row.id.startswith("withheld_term")]
    assert path in warning.sentence
    assert not any(private in warning.sentence for private in (SECRET, IBAN))
