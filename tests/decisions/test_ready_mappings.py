"""Ready mappings: records of their systems say what they should, and internal fields are withheld."""

import json
from decimal import Decimal

import pytest

from config.http import strict_json
from decisions.mapping.models import Mapping
from decisions.mapping.ready import shelf
from decisions.record import profile
from decisions.record.profile import Decision, Quantity, Text
from decisions.record.values import Amount, Day
from decisions.record.walk import Table
from tests.cases import each_case
from tests.decisions.test_mappings import send

AROUND = {"decision_id": "a-1", "decided_at": "2026-11-20T10:00:00Z", "system": {"name": "S", "version": "4.1"}}

HMDA_DENIED = {
    "action_taken": 3,
    "denial_reason_1": 1,
    "denial_reason_2": 4,
    "denial_reason_3": 10,
    "derived_race": "White",
}
HMDA_OTHER = {
    "action_taken": 7,
    "denial": {"denialReason1": 9, "denialReason2": 10, "otherDenialReason": "The property is not insurable."},
}
ENCOMPASS_INCOME = {
    "statementCreditDenial": {
        "id": "x",
        "denialDate": "2026-11-19",
        "unableToVerifyIncome": True,
        "bankruptcy": False,
        "noCreditFile": False,
        "descriptionofAccount1": "First mortgage, 30 years fixed",
        "ecoaName": "Consumer Financial Protection Bureau",
    }
}
ENCOMPASS_OTHER = {
    "statementCreditDenial": {
        "insufficientFundsToCloseLoan": True,
        "denialOther1": True,
        "denialOtherDesc1": "The condominium project is not eligible.",
        "denialDescription": "See the enclosed page.",
        "descriptionofActionTaken1": "We cannot approve your application.",
    }
}
CLAIM_R5 = {
    "resourceType": "ClaimResponse",
    "id": "R3500",
    "status": "active",
    "type": {"coding": [{"system": "http://terminology.hl7.org/CodeSystem/claim-type", "code": "oral"}]},
    "use": "claim",
    "patient": {"reference": "Patient/1"},
    "created": "2026-08-16",
    "insurer": {"identifier": {"system": "http://www.jurisdiction.org/insurer", "value": "555123"}},
    "outcome": "complete",
    "decision": {"coding": [{"system": "http://hl7.org/fhir/claim-decision", "code": "partial"}]},
    "disposition": "Claim settled as per contract.",
    "item": [
        {
            "itemSequence": 1,
            "adjudication": [
                {"category": {"coding": [{"code": "eligible"}]}, "amount": {"value": 120.5, "currency": "USD"}},
                {
                    "category": {"coding": [{"code": "benefit"}]},
                    "reason": {"coding": [{"code": "ar002", "display": "Plan Limit Reached"}]},
                    "amount": {"value": 90.47, "currency": "USD"},
                },
            ],
        }
    ],
    "payment": {"date": "2026-08-31", "amount": {"value": 90.47, "currency": "USD"}},
}
CLAIM_R4 = {
    "resourceType": "ClaimResponse",
    "outcome": "complete",
    "preAuthRef": "18SS12345",
    "item": [
        {
            "itemSequence": 1,
            "adjudication": [
                {
                    "category": {"coding": [{"code": "submitted"}]},
                    "reason": {"coding": [{"system": "urn:x12", "code": "96"}]},
                },
                {"category": {"coding": [{"code": "benefit"}]}, "reason": {"coding": [{"code": "ar001"}]}},
                {
                    "category": {"coding": [{"code": "benefit"}]},
                    "reason": {
                        "text": "The service needs a referral.",
                        "coding": [{"code": "X9", "display": "No referral"}],
                    },
                },
            ],
        }
    ],
}
BENEFIT_R5 = {
    "resourceType": "ExplanationOfBenefit",
    "status": "active",
    "outcome": "complete",
    "decision": {"coding": [{"code": "denied"}]},
    "diagnosis": [{"sequence": 1, "diagnosisCodeableConcept": {"text": "Fracture"}}],
    "provider": {"reference": "Practitioner/1"},
    "item": [
        {
            "sequence": 1,
            "productOrService": {"text": "Crown", "coding": [{"code": "2101"}]},
            "servicedDate": "2026-07-02",
            "net": {"value": 135.57, "currency": "USD"},
            "adjudication": [{"category": {"coding": [{"code": "denied"}]}, "reason": {"coding": [{"code": "ar001"}]}}],
        }
    ],
    "total": [{"category": {"coding": [{"code": "submitted"}]}, "amount": {"value": 135.57, "currency": "USD"}}],
    "processNote": [{"number": 1, "type": "print", "text": "Ask your dentist for the other form."}],
}
BENEFIT_R4 = {
    "resourceType": "ExplanationOfBenefit",
    "outcome": "complete",
    "disposition": "The claim was denied in full.",
    "billablePeriod": {"start": "2026-07-01", "end": "2026-07-31"},
    "adjudication": [{"category": {"text": "x"}, "reason": {"text": "Your plan ended before the service."}}],
}
KIE = {
    "type": "SUCCESS",
    "msg": "OK from container 'loans'",
    "dmn-evaluation-result": {
        "messages": [],
        "model-namespace": "https://kiegroup.org/dmn/_4502BB15",
        "model-name": "Loan Approval",
        "decision-name": [],
        "dmn-context": {"Loan Approval": "Declined", "DTI": 0.6},
        "decision-results": {
            "_C970A1A1": {
                "messages": [],
                "decision-id": "_C970A1A1",
                "decision-name": "Loan Approval",
                "result": "Declined",
                "status": "SUCCEEDED",
            }
        },
    },
}
OPA = {
    "labels": {"app": "loans", "id": "1780d507", "version": "v0.62.1"},
    "decision_id": "4ca636c1",
    "bundles": {"authz": {"revision": "W3si"}},
    "path": "loans/decision",
    "input": {"applicant": {"ssn": "123-45-6789", "income": 30000}},
    "result": {"allow": False, "deny": ["The income is below the minimum for this product."]},
    "requested_by": "[::1]:59943",
    "timestamp": "2026-11-20T10:00:00.000000Z",
}


def read(name, content, extra=()):
    """Return the profile of a record whose system's output is at the usual place of a ready mapping."""
    ready = shelf.mapping(name)
    record = strict_json.read(json.dumps(AROUND | {ready.below: content}).encode(), number=Decimal)
    return profile.read(record, Table([*ready.entries, *extra]))


def told(reading, *meanings):
    """Return the texts and words of a profile that have one of these meanings."""
    texts = [value for value in reading.values if isinstance(value, Text) and value.origin.meaning in meanings]
    return [value.text or value.words["en"] for value in texts]


def decisions(reading):
    return [value.kind for value in reading.values if isinstance(value, Decision)]


def quantities(reading, meaning):
    return [value.value for value in reading.values if isinstance(value, Quantity) and value.origin.meaning == meaning]


@each_case(
    ("name", "content", "kinds", "reasons", "unexplained"),
    [
        ("hmda", HMDA_DENIED, ["denied"], ["Debt-to-income ratio", "Collateral"], []),
        ("hmda", HMDA_OTHER, ["denied"], ["The property is not insurable."], []),
        ("hmda", {"action_taken": 3, "denial_reason_1": 9}, ["denied"], [], ["outcome.denial_reason_1"]),
        (
            "regulation_b",
            {"reasons": [{"code": "reg_b_length_of_employment"}, {"code": "HMDA-3"}]},
            [],
            ["Length of employment", "Credit history"],
            [],
        ),
        (
            "regulation_b",
            {"reason_codes": ["reg_b_no_credit_file", "R14"]},
            [],
            ["No credit file"],
            ["outcome.reason_codes.1"],
        ),
        ("encompass", ENCOMPASS_INCOME, [], ["Unable to verify income"], []),
        (
            "encompass",
            ENCOMPASS_OTHER,
            [],
            ["Insufficient funds to close the loan", "The condominium project is not eligible."],
            ["outcome.statementCreditDenial.denialDescription"],
        ),
        ("fhir_claim_response", CLAIM_R5, ["partially_approved"], ["Plan Limit Reached"], []),
        (
            "fhir_claim_response",
            CLAIM_R4,
            [],
            ["The service is not covered by your plan", "The service needs a referral."],
            ["outcome.item.0.adjudication.0.reason.coding.0.code"],
        ),
        ("fhir_explanation_of_benefit", BENEFIT_R5, ["denied"], ["The service is not covered by your plan"], []),
        ("fhir_explanation_of_benefit", BENEFIT_R4, [], ["Your plan ended before the service."], []),
        ("drools", KIE, [], [], ["outcome.dmn-evaluation-result.decision-results._C970A1A1.result"]),
        ("opa", OPA, ["denied"], ["The income is below the minimum for this product."], []),
        ("opa", OPA | {"result": True}, ["approved"], [], []),
    ],
)
def test_a_record_says_its_decision_and_reasons_and_what_no_one_has_explained(
    name, content, kinds, reasons, unexplained
):
    reading = read(name, content)
    assert decisions(reading) == kinds
    assert told(reading, "reason") == reasons
    unmapped = [scalar.path for scalar in reading.unmapped if scalar.path != "decision_id"]
    assert sorted([*unmapped, *(unknown.path for unknown in reading.unknown)]) == sorted(unexplained)


def test_what_surrounds_the_decision_is_read_too():
    reading = read("fhir_claim_response", CLAIM_R5)
    assert told(reading, "system.name", "consequence") == ["S", "Claim settled as per contract."]
    assert [value.day.isoformat() for value in quantities(reading, "decided") if isinstance(value, Day)] == [
        "2026-11-20"
    ]
    assert Amount(Decimal("90.47"), "USD") in quantities(reading, "amount")
    assert told(read("encompass", ENCOMPASS_INCOME), "object") == ["First mortgage, 30 years fixed"]
    assert told(read("fhir_explanation_of_benefit", BENEFIT_R5), "consequence") == [
        "Ask your dentist for the other form."
    ]


def test_inputs_of_a_policy_and_protected_traits_are_withheld():
    withheld = {field.path: field.because for field in read("opa", OPA).withheld}
    assert withheld["original.input.applicant.ssn"] == "internal"
    assert {field.because for field in read("hmda", HMDA_DENIED).withheld} == {"protected"}


def test_one_entry_completes_the_mapping_of_a_decision_model():
    row = {
        "path": "outcome.dmn-evaluation-result.decision-results._C970A1A1.result",
        "means": "decision",
        "values": {"Declined": {"outcome": "denied", "relation": "equivalent"}},
    }
    reading = read("drools", KIE, [shelf.Entry.model_validate(row)])
    assert decisions(reading) == ["denied"]


@each_case("name", list(shelf.all_mappings()))
def test_a_ready_mapping_names_its_source_and_its_entries_match_at_any_place(name):
    ready = shelf.mapping(name)
    assert ready.source
    assert ready.licence
    assert ready.version
    for place in (ready.below, "", "events.decision"):
        entries = ready.entries_below(place)
        Table(entries)
        assert {entry.source for entry in entries} == {"ready"}


@pytest.mark.django_db
def test_a_ready_mapping_becomes_a_version_that_a_person_confirms(api):
    listed = {item["name"]: item for item in api.get("/v1/mappings/ready").json()["items"]}
    assert listed["opa"]["below"] == "original"
    made = send(api, "mappings/ready/opa", {"name": "Loans", "source": "policy", "below": "outcome.opa"})
    assert made.status_code == 201, made.content
    (version,) = made.json()["versions"]
    assert version["confirmed_at"] is None
    assert {"outcome.opa.result", "decided_at"} <= {entry["path"] for entry in version["entries"]}
    assert {entry["source"] for entry in version["entries"]} == {"ready"}
    assert send(api, "mappings/ready/opa", {"name": "Loans", "source": "policy"}).status_code == 409
    assert send(api, "mappings/ready/cobol", {"name": "Old", "source": "x"}).status_code == 404
    assert send(api, "mappings/ready/opa", {"name": "Nothing selected"}).status_code == 422
    assert Mapping.objects.count() == 1
