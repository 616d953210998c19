"""The OpenAPI document matches the contract."""

import json
import re
from typing import Any

import pytest
from django.test import Client

from tests.accounts.endpoints import ENDPOINTS

# Operations of the contract, with the component of their body or the fields of an open object.
CONTRACT = {
    ("post", "/v1/decisions/{decision_id}/reconsideration"): "ReconsiderationIn",
    ("post", "/v1/decisions/{decision_id}/notices"): {"pack", "recipient", "review_request_id"},
    ("patch", "/v1/notices/{notice_id}"): {"content"},
    ("post", "/v1/notices/{notice_id}/approve"): {"acknowledge", "approver", "authority", "comment", "revision"},
    ("post", "/v1/auth/otp/request"): "OtpRequestIn",
    ("post", "/v1/auth/invites"): "InviteIn",
    ("post", "/v1/auth/api-keys"): "KeyIn",
    ("patch", "/v1/auth/onboarding"): {"dismissed", "opened", "verified"},
    ("post", "/v1/ingest/srf"): set(),
    ("post", "/v1/connectors"): "ConnectorIn",
    ("patch", "/v1/connectors/{source_id}"): "ConnectorPatch",
    ("post", "/v1/connectors/test"): "ConnectorIn",
    ("post", "/v1/custody/test"): "CustodyIn",
    ("put", "/v1/retention"): "RetentionIn",
}
REQUIRED = {
    "ReconsiderationIn": ["requested_by", "reviewer", "reviewer_authority", "outcome", "rationale"],
    "OtpRequestIn": ["email"],
    "InviteIn": ["email", "role"],
    "KeyIn": ["name"],
    "ConnectorIn": ["kind", "name"],
    "CustodyIn": ["provider"],
    "RetentionIn": ["days"],
}
GROUPS = [
    "Ingest", "Decisions", "Reconsiderations", "Notices", "Connectors", "Custody", "Retention", "Access", "Audit",
]  # fmt: skip
METHODS = ("get", "post", "put", "patch", "delete")
LETTER = {"text/html", "application/pdf", "text/plain"}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    answer = Client().get("/v1/openapi.json")
    assert answer.status_code == 200
    return answer.json()


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [(m, path, item[m]) for path, item in document["paths"].items() for m in METHODS if m in item]


def body_schema(document: dict[str, Any], method: str, path: str) -> dict[str, Any]:
    schema = document["paths"][path][method]["requestBody"]["content"]["application/json"]["schema"]
    reference = schema.get("$ref", "")
    return document["components"]["schemas"][reference.rpartition("/")[2]] if reference else schema


def test_the_document_is_openapi_3_1(document):
    assert document["openapi"].startswith("3.1.")


@pytest.mark.parametrize(("method", "path"), CONTRACT)
def test_every_operation_of_the_contract_is_documented_with_its_required_body(document, method, path):
    operation = document["paths"][path][method]
    body, expected = operation["requestBody"], CONTRACT[method, path]
    assert body["required"] is True
    assert list(body["content"]) == ["application/json"]
    if isinstance(expected, str):
        assert body["content"]["application/json"]["schema"] == {"$ref": f"#/components/schemas/{expected}"}
    elif expected:
        assert set(body_schema(document, method, path)["properties"]) == expected
    else:
        assert body_schema(document, method, path) == {"type": "object", "additionalProperties": True}


@pytest.mark.parametrize("name", REQUIRED)
def test_the_bodies_require_what_the_contract_requires(document, name):
    assert document["components"]["schemas"][name]["required"] == REQUIRED[name]


def test_onboarding_flags_are_optional_booleans(document):
    schema = body_schema(document, "patch", "/v1/auth/onboarding")
    assert {flag["type"] for flag in schema["properties"].values()} == {"boolean"}
    assert "required" not in schema


def test_the_validation_error_has_the_contracts_names_and_fields(document):
    schemas = document["components"]["schemas"]
    assert set(schemas["HTTPValidationError"]["properties"]) == {"detail"}
    assert schemas["HTTPValidationError"]["properties"]["detail"]["items"] == {
        "$ref": "#/components/schemas/ValidationError"
    }
    assert set(schemas["ValidationError"]["properties"]) == {"loc", "msg", "type", "input", "ctx"}
    assert schemas["ValidationError"]["required"] == ["loc", "msg", "type"]


def test_every_operation_may_answer_with_the_validation_error(document):
    for method, path, operation in operations(document):
        schema = operation["responses"]["422"]["content"]["application/json"]["schema"]
        assert schema == {"$ref": "#/components/schemas/HTTPValidationError"}, (method, path)


def test_the_operations_of_the_contract_are_marked(document):
    marked = {(method, path) for method, path, operation in operations(document) if operation.get("x-contract")}
    assert marked == CONTRACT.keys()


def test_every_operation_has_one_group_in_the_order_of_a_reader(document):
    assert [tag["name"] for tag in document["tags"]] == GROUPS
    assert all(tag["description"].endswith(".") for tag in document["tags"])
    listed = [(path, list(methods.values())) for path, methods in document["paths"].items()]
    order = []
    for path, members in listed:
        ((group,),) = {tuple(operation["tags"]) for operation in members}
        marks = [operation.get("x-contract", False) for operation in members]
        assert marks == sorted(marks, reverse=True), path
        order.append((GROUPS.index(group), not any(marks), path))
    assert order == sorted(order)
    assert {group for group, *_ in order} == set(range(len(GROUPS)))
    assert (listed[0][0], list(document["paths"]["/v1/ingest/srf"])) == ("/v1/ingest/srf", ["post"])


@pytest.mark.parametrize(
    ("path", "group"),
    [
        ("/v1/decisions/{decision_id}/record", "Decisions"),
        ("/v1/decisions/{decision_id}/reconsideration/check", "Reconsiderations"),
        ("/v1/decisions/{decision_id}/notices", "Notices"),
        ("/v1/decisions/{decision_id}/retention", "Retention"),
        ("/v1/notice-settings", "Notices"),
        ("/v1/completeness", "Connectors"),
        ("/v1/auth/me", "Access"),
    ],
)
def test_an_operation_is_in_the_group_of_its_subject(document, path, group):
    assert {tuple(operation["tags"]) for operation in document["paths"][path].values()} == {(group,)}


def test_every_success_is_an_open_json_object_or_lines_of_them_or_a_letter(document):
    schemas = document["components"]["schemas"]
    for method, path, operation in operations(document):
        for status, response in operation["responses"].items():
            for content_type, content in response["content"].items() if status.startswith("2") else []:
                schema = content["schema"]
                schema = schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
                if content_type in LETTER and operation["operationId"] == "get_notice_letter":
                    assert schema["type"] == "string"
                else:
                    assert (schema["type"], schema["additionalProperties"]) == ("object", True), (method, path)


def test_every_schema_is_used_and_every_used_schema_is_defined(document):
    assert (
        set(re.findall(r'"#/components/schemas/([^"/]+)"', json.dumps(document)))
        == document["components"]["schemas"].keys()
    )


def test_every_endpoint_is_documented_under_one_operation_id_with_a_summary(document):
    documented = {f"{method.upper()} {path}" for method, path, _ in operations(document)}
    routes = {re.sub(r"<\w+:(\w+)>", r"{\1}", name).replace(" ", " /v1/") for name in ENDPOINTS}
    assert documented == routes
    ids = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(set(ids)) == len(ids)
    assert all(operation["summary"].endswith(".") for _, _, operation in operations(document))


def test_path_parameters_are_required_strings(document):
    for method, path, operation in operations(document):
        named = {p["name"]: p for p in operation.get("parameters", []) if p["in"] == "path"}
        assert set(named) == set(re.findall(r"{(\w+)}", path)), (method, path)
        for parameter in named.values():
            assert (parameter["required"], parameter["schema"]["type"]) == (True, "string"), (method, path)


def test_the_page_is_served_under_the_policy_of_every_page(api):
    policy = Client().get("/docs/").headers["Content-Security-Policy"]
    assert policy == api.get("/v1/decisions").headers["Content-Security-Policy"]
    assert "unsafe" not in policy
