"""The contract of `POST /v1/decisions/{decision_id}/reconsideration`: accepted and refused bodies, and answers."""

import json

import pytest

from accounts.models import AuditEvent
from accounts.roles import Role
from decisions.models import Decision
from decisions.selectors import DecisionNotFound
from tests.reconsiderations.conftest import REQUIRED, REVIEW, check, is_committed, reconsider, record_of
from tests.support.undone import undone

pytestmark = pytest.mark.django_db
URL = "/v1/decisions/loan-1/reconsideration"


def without(*fields):
    return json.dumps({name: value for name, value in REVIEW.items() if name not in fields}).encode()


def nothing_was_recorded():
    return not Decision.objects.filter(kind="reconsideration").exists()


def problems(response):
    assert response.status_code == 422, response.content
    assert nothing_was_recorded()
    return [(problem["type"], problem["loc"]) for problem in response.json()["detail"]]


@pytest.mark.once
def test_the_answer_is_a_receipt_with_the_link_and_the_commitments(api, each_vault, original):
    response = reconsider(api)
    recorded = response.json()
    assert response.status_code == 201
    assert recorded["decision_id"] not in ("", "loan-1")
    assert recorded["record_id"] != original["record_id"]
    assert recorded["kind"] == "reconsideration"
    assert recorded["reconsiders"] == "loan-1"
    assert recorded["log"] == "pending"
    assert is_committed(recorded["rationale"], REVIEW["rationale"])
    assert all(map(is_committed, recorded["evidence_considered"], REVIEW["evidence_considered"]))
    receipt = api.get(f"/v1/decisions/{recorded['decision_id']}/receipt").json()
    assert receipt.items() <= recorded.items()
    assert recorded.keys() - receipt.keys() == {"reconsiders", "rationale", "evidence_considered", "to_be_told"}
    assert recorded["to_be_told"] == []


def test_a_missing_required_field_is_named(api, original, subtests):
    for field in REQUIRED:
        with subtests.test(field=field):
            assert problems(api.post(URL, without(field))) == [("missing", ["body", field])]


def test_all_missing_fields_are_named_at_once(api, original):
    assert problems(api.post(URL, b"{}")) == [("missing", ["body", field]) for field in REQUIRED]


def test_a_text_field_accepts_only_texts(api, original, subtests):
    for field in REQUIRED:
        for value in (None, 5, True, ["x"], {"x": "y"}):
            with subtests.test(field, value=value):
                assert problems(reconsider(api, **{field: value})) == [("string_type", ["body", field])]


NO_LISTS = [
    (None, ("list_type", ["body", "evidence_considered"])),
    ("one text", ("list_type", ["body", "evidence_considered"])),
    ({}, ("list_type", ["body", "evidence_considered"])),
    ([1], ("string_type", ["body", "evidence_considered", 0])),
    (["good", None], ("string_type", ["body", "evidence_considered", 1])),
]


def test_evidence_is_a_list_of_texts(api, original, subtests):
    for value, expected in NO_LISTS:
        with subtests.test(value=value, expected=expected):
            assert problems(reconsider(api, evidence_considered=value)) == [expected]


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [("", "string_too_short"), ("x" * 65, "string_too_long"), ("ü" * 65, "string_too_long")],
)
def test_an_outcome_has_1_to_64_characters(api, original, outcome, expected):
    assert problems(reconsider(api, outcome=outcome)) == [(expected, ["body", "outcome"])]


def test_any_other_outcome_is_recorded_unchanged(api, original, subtests):
    for outcome in ("x", "ü" * 64, "remanded to the first reviewer"):
        with subtests.test(outcome=outcome):
            recorded = reconsider(api, outcome=outcome)
            assert recorded.status_code == 201
            assert record_of(api, recorded.json()["decision_id"])["outcome"]["result"] == outcome


def test_a_refused_private_value_is_not_repeated(api, original, subtests):
    for field in ("rationale", "evidence_considered", "requested_by", "reviewer"):
        with subtests.test(field=field):
            response = reconsider(api, **{field: 918273645546372819})
            (problem,) = response.json()["detail"]
            assert "input" not in problem
            assert b"918273645546372819" not in response.content


def test_evidence_and_a_new_action_are_optional(api, original):
    recorded = api.post(URL, without("evidence_considered", "new_action"))
    assert recorded.status_code == 201
    assert recorded.json()["evidence_considered"] == []
    assert "action" not in record_of(api, recorded.json()["decision_id"])["outcome"]


def test_a_new_action_may_be_null(api, original):
    assert reconsider(api, new_action=None).status_code == 201
    assert problems_of_type(reconsider(api, new_action=5)) == ["string_type"]


def problems_of_type(response):
    return [problem["type"] for problem in response.json()["detail"]]


def test_an_unknown_field_is_ignored_and_not_recorded(api, original):
    recorded = reconsider(api, colour="violet", kind="decision", parents=["x"])
    assert recorded.status_code == 201
    assert recorded.json()["kind"] == "reconsideration"
    assert b"violet" not in api.get(f"/v1/decisions/{recorded.json()['decision_id']}/record").content


def test_a_body_that_is_no_json_object_is_refused(api, original, subtests):
    for body in (b" ", b"[]", b'"text"', b"null", b"5", b"{", b"\xff"):
        with subtests.test(body=body):
            assert [kind for kind, _ in problems(api.post(URL, body))] in (["json_invalid"], ["model_type"])


@pytest.mark.parametrize("text", ["a \\u0000 b", "half \\ud800 of a pair"])
def test_a_text_that_cannot_be_stored_exactly_is_refused(api, original, text):
    body = json.dumps({**REVIEW, "rationale": "HERE"}).replace("HERE", text).encode()
    assert [kind for kind, _ in problems(api.post(URL, body))] == ["json_invalid"]


def test_other_media_and_larger_bodies_are_refused(api, original):
    assert api.post(URL, without(), "text/plain").status_code == 415
    assert reconsider(api, rationale="x" * 2**20).status_code == 413
    assert nothing_was_recorded()


def test_an_unknown_or_foreign_decision_is_a_404(api, other_api, original):
    other_api.ingest({"decision_id": "loan-2"})
    for answer in (reconsider(api, "loan-9"), reconsider(api, "loan-2"), reconsider(other_api, "loan-1")):
        assert answer.status_code == 404
        assert answer.json() == {"detail": DecisionNotFound.sentence}
    assert nothing_was_recorded()


def test_the_path_is_checked_before_the_body_is_read(api, original):
    assert api.post("/v1/decisions/loan-9/reconsideration", b"{").status_code == 404


def test_only_roles_with_the_permission_reconsider_and_check(api_for, organization, original, subtests):
    for role in Role:
        with subtests.test(role=role), undone():
            caller = api_for(organization, role)
            allowed = role not in (Role.AUDITOR, Role.SENDER)
            assert reconsider(caller).status_code == (201 if allowed else 403)
            assert check(caller, "loan-1").status_code == (409 if allowed else 403)
            assert nothing_was_recorded() != allowed


def test_the_audit_trail_has_the_outcome_but_no_texts(api, original):
    recorded = reconsider(api).json()
    event = AuditEvent.objects.get(verb="decision.reconsidered")
    assert event.object_id == original["record_id"]
    assert event.detail == {"reconsideration": recorded["record_id"], "outcome": "overturned"}


def test_a_wrong_method_is_a_405(api, original):
    assert api.get(URL).status_code == 405
    assert api.get(f"{URL}/check").status_code == 405


def test_a_body_with_too_many_references_is_refused(api, original):
    """A reference of a few bytes becomes a commitment of 150 bytes, and a record has at most 1 MiB."""
    assert problems(reconsider(api, evidence_considered=[""] * 250_000))
