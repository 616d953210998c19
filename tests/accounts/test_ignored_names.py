"""The answer lists names that a body's schema does not have, so that no misspelt name is lost silently."""

import json
from collections.abc import Iterator
from typing import get_args

import pytest
from pydantic import BaseModel

from accounts.roles import Role
from config.http.schemas import RequestBody
from decisions.record.meanings import Value
from tests.accounts.belongings import Belongings
from tests.accounts.endpoints import ENDPOINTS
from tests.support.undone import undone

pytestmark = pytest.mark.django_db

JSON_BODIES = [
    name
    for name, endpoint in ENDPOINTS.items()
    if endpoint.body and endpoint.content_type == "application/json" and not name.startswith("POST ingest")
]
SIGNING_IN = {"POST auth/otp/verify", "POST auth/second-factor", "POST auth/invites/accept"}
"""Operations whose example bodies are refused."""
REVIEW = {"requested_by": "a", "reviewer": "b", "reviewer_authority": "c", "outcome": "upheld", "rationale": "d"}


@pytest.fixture
def key_names(api):
    """Create a key with further names in the body, and return the answer."""
    return lambda *names: api.post("/v1/auth/api-keys", json.dumps({"name": "n", **dict.fromkeys(names, 1)}).encode())


def test_every_operation_lists_ignored_names(organization, api, browser_of, subtests):
    belongings = Belongings(api)
    for name in sorted(set(JSON_BODIES) - SIGNING_IN):
        method, endpoint = name.partition(" ")[0], ENDPOINTS[name]
        client = browser_of(organization, Role.OWNER) if endpoint.callers == "members" else api.client
        path = "/v1/" + belongings.shared(endpoint.path)
        for more, ignored in (({}, None), ({"misspelt": {"inner": 1}}, ["misspelt"])):
            with subtests.test(name, more=more), undone():
                body = json.dumps({**json.loads(endpoint.body), **more}).encode()
                answer = client.generic(method, path, body, content_type="application/json")
                assert answer.status_code in (200, 201), answer.content
                assert answer.json().get("ignored") == ignored


def test_a_misspelt_evidence_considered_is_listed(api):
    api.ingest({"decision_id": "loan-1"})
    body = json.dumps({**REVIEW, "evidence_considerd": ["payslip"]}).encode()
    answer = api.post("/v1/decisions/loan-1/reconsideration", body)
    assert (answer.status_code, answer.json()["ignored"]) == (201, ["evidence_considerd"])
    assert b"payslip" not in answer.content


def test_only_names_are_listed_never_values(key_names, api):
    answer = api.post("/v1/auth/api-keys", b'{"name": "n", "comment": "canary-77"}')
    assert answer.json()["ignored"] == ["comment"]
    assert b"canary-77" not in answer.content


ODD_NAMES = ["", " ", "a.b", '"', "\n", "\x7f", "\u202e", "\U0001f511", "ignored", "Name", "__proto__"]


def test_odd_names_are_listed_unchanged(key_names, subtests):
    for odd in ODD_NAMES:
        with subtests.test(odd=odd):
            assert key_names(odd).json()["ignored"] == [odd]


def test_the_list_of_ignored_names_is_bounded(key_names):
    many = key_names(*(f"name-{number}" for number in range(20_000)))
    assert many.json()["ignored"] == [f"name-{number}" for number in range(20)]
    assert key_names("x" * 500_000).json()["ignored"] == ["x" * 64]


def test_an_error_lists_only_its_problems(api):
    answer = api.post("/v1/auth/api-keys", b'{"nam": "n"}')
    assert (answer.status_code, list(answer.json())) == (422, ["detail"])


def test_a_record_and_free_objects_have_no_name_that_is_ignored(api):
    assert "ignored" not in api.ingest({"decision_id": "loan-1", "anything": {"at": "all"}}).json()
    answer = api.post("/v1/decisions/loan-1/notices", b'{"recipient": {"anything": {"at": "all"}}}')
    assert "ignored" not in answer.json()


def test_names_inside_a_notice_s_content_are_refused_rather_than_ignored(api):
    path = "/v1/notices/" + Belongings(api).notice()
    answer = api.client.generic("PATCH", path, b'{"content": {"titel": "x"}}', content_type="application/json")
    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["body", "content", "titel"])


def tables(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """Yield the schemas inside a schema, at any depth."""
    pending = [field.annotation for field in model.model_fields.values()]
    while pending:
        kind = pending.pop()
        pending += get_args(kind)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield kind
            yield from tables(kind)


def test_every_schema_inside_a_body_refuses_unknown_names():
    """The answer lists only ignored names of the body itself, so inner schemas must refuse theirs."""
    inner = {table for model in RequestBody.__subclasses__() for table in tables(model)}
    assert inner
    # The codes of a mapping have their words under each language, which the schema checks.
    assert all(table.model_config.get("extra") == "forbid" for table in inner - {Value})
