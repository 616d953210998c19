"""Letters never print a number of an account or a person, nor a secret, nor a field that an organization withholds."""

import json
from decimal import Decimal

import pytest

from accounts.models import AuditEvent
from accounts.roles import Role
from notices.drafting import Draft, draft
from notices.models import NoticeSettings
from notices.packs import packs
from notices.phrasebook import Phrasebook
from notices.record_paths import Facts
from notices.sensitive import sensitive_fields
from notices.sensitive.values import is_card_number, is_iban, kinds
from tests.cases import each_case
from tests.notices.conftest import done, send
from tests.notices.drafts import drafted as draft_of
from tests.notices.drafts import statement_texts, warnings_of

SECRET = "canary"
CARD, IBAN = "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00"


def own_draft(record: dict, *lists: tuple[str, ...]) -> Draft:
    return draft(
        Facts(json.dumps(record).encode()), packs()["general"], "en", Phrasebook((), sensitive_fields(*lists)), {}
    )


@pytest.mark.parametrize("memo", [CARD, IBAN, f"Paid to {IBAN} on Monday.", "SSN 078-05-1120", "The password: hunter2"])
def test_an_input_of_a_sensitive_form_is_not_listed_and_the_letter_says_so(memo: str):
    content = draft_of({"events": {"application": {"memo": memo, "income": 7}}})
    assert statement_texts(content, "inputs_used") == ["Income (application)."]
    assert packs()["general"].text("en").withheld in content["rights"]


@pytest.mark.parametrize("part", ["factor", "value"])
def test_a_factor_with_a_sensitive_part_is_withheld_whole_and_warned_of(part: str):
    factor = {"factor": "account", "value": 3, "direction": "adverse", part: IBAN}
    record = {"outcome": {"action": "denied", "principal_factors": [factor]}}
    assert statement_texts(draft_of(record), "main_factors") == []
    assert any(warning.id.startswith("withheld_reason") for warning in warnings_of(record))


def test_a_condition_with_a_sensitive_value_is_withheld_and_warned_of():
    record = {"outcome": {"action": "approved with conditions", "conditions": [f"Pay to {IBAN}."]}}
    assert IBAN not in json.dumps(draft_of(record, "us_ecoa_fcra"))
    [warning] = [row for row in warnings_of(record, "us_ecoa_fcra") if row.id.startswith("withheld_term")]
    assert "outcome.conditions.0" in warning.sentence
    assert IBAN not in warning.sentence


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


# ── numbers under their short and foreign names ──


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


# ── reasons and factors ──


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


def test_an_organization_withholds_fields_and_factors_by_name_in_any_spelling():
    factors = [
        {"factor": "badge_no", "value": 3},
        {"factor": "file", "path": "events.application.badge_no", "value": 3},
    ]
    record = {
        "events": {"application": {"badge_no": "B7", "income": 7}},
        "outcome": {"action": "denied", "reasons": ["Too low."], "principal_factors": factors},
    }
    made = own_draft(record, ("badgeNo",))
    assert statement_texts(made.content, "main_factors", "inputs_used") == ["Too low.", "Income (application)."]
    assert "events.application.badge_no" in made.withheld


def test_an_organization_prints_a_field_whose_value_has_a_sensitive_form():
    record = {"events": {"application": {"policy_number": CARD}}}
    assert statement_texts(own_draft(record).content, "inputs_used") == []
    assert statement_texts(own_draft(record, (), ("policyNumber",)).content, "inputs_used") == [
        "Policy number (application)."
    ]


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
