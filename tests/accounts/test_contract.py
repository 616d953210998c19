"""The contract's bodies, field by field: errors name each field that is missing, of a wrong type or out of bounds.

The tables are written out from the interface, not read from the code that they check.
"""

import json
from collections.abc import Callable
from functools import cache
from itertools import cycle
from typing import Any

import pytest
from django.test import Client

from accounts.roles import Role
from tests.accounts.belongings import Belongings
from tests.accounts.endpoints import ENDPOINTS
from tests.notices.conftest import RECORD

pytestmark = pytest.mark.django_db

# A field's JSON type; `!` is required, `?` may be null.
FIELDS = {
    "POST decisions/<any:decision_id>/reconsideration": {
        "requested_by": "string!", "reviewer": "string!", "reviewer_authority": "string!", "outcome": "string!",
        "rationale": "string!", "evidence_considered": "array", "new_action": "string?",
    },
    "POST decisions/<any:decision_id>/notices": {"pack": "string?", "recipient": "object"},
    "PATCH notices/<str:notice_id>": {"content": "table!"},
    "POST notices/<str:notice_id>/approve": {"approver": "string", "authority": "string", "comment": "string"},
    "PATCH auth/onboarding": {"dismissed": "boolean", "opened": "boolean", "verified": "boolean"},
    "POST auth/otp/request": {"email": "string!", "intent": "string"},
    "POST auth/invites": {"email": "string!", "role": "choice!"},
    "POST auth/api-keys": {"name": "string!"},
    "POST connectors": {
        "kind": "choice!", "name": "string!", "config": "object", "secret_ref": "string?", "enabled": "boolean",
    },
    "POST connectors/test": {
        "kind": "choice!", "name": "string!", "config": "object", "secret_ref": "string?", "enabled": "boolean",
    },
    "PATCH connectors/<str:source_id>": {
        "name": "string?", "config": "object?", "secret_ref": "string?", "enabled": "boolean?",
        "reset_cursor": "boolean",
    },
    "POST custody/test": {"provider": "choice!", "config": "object"},
    "PUT retention": {"days": "integer!", "note": "string"},
    "POST ingest/srf": {"decision_id": "string!"},
}  # fmt: skip
CONTENT = {
    "title": "string", "decision_summary": "array", "role_of_automated_system": "array", "main_factors": "array",
    "inputs_used": "array", "how_to_request_inputs": "string", "rights": "array", "human_review_available": "boolean",
    "how_to_request_review": "string", "deadline_note": "string", "framework": "string", "language": "string",
}  # fmt: skip
ANY: list[Any] = [5, 0, 1.5, True, False, "x", "300", "true", [], {}, None]
TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "string": ((str,), "string_type"),
    "choice": ((), "literal_error"),
    "boolean": ((bool,), "bool_type"),
    "integer": ((int,), "int_type"),
    "array": ((list,), "list_type"),
    "object": ((dict,), "dict_type"),
    "table": ((dict,), "model_type"),
}
BODIES = [name for name, endpoint in ENDPOINTS.items() if endpoint.body]

Ask = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def ask(organization, api, browser_of) -> Ask:
    """Send a body to an operation as a caller who may, and return the problems of its 422."""
    belongings = Belongings(api)
    browser = cache(lambda: browser_of(organization, Role.OWNER))

    def refused(name: str, body: bytes, **headers: str) -> list[dict[str, Any]]:
        method, endpoint = name.partition(" ")[0], ENDPOINTS[name]
        path = "/v1/" + belongings.shared(endpoint.path)
        client = {"members": browser, "anybody": Client}.get(endpoint.callers, lambda: api.client)()
        answer = client.generic(method, path, body, content_type=endpoint.content_type, **headers)
        assert answer.status_code == 422, (name, body, answer.getvalue())
        assert set(answer.json()) == {"detail"}
        return answer.json()["detail"]

    return refused


def wrong(kind: str) -> list[Any]:
    """Return values of other types."""
    accepted, _ = TYPES[kind.rstrip("!?")]
    return [value for value in ANY if not ((value is None and kind.endswith("?")) or type(value) in accepted)]


def dumped(name: str, /, **changes: Any) -> bytes:
    return json.dumps({**json.loads(ENDPOINTS[name].body), **changes}).encode()


def test_a_value_of_another_type_is_refused_at_its_field(ask, subtests):
    for name, field, kind in ((name, *item) for name, fields in FIELDS.items() for item in fields.items()):
        with subtests.test(name, field=field):
            for value in wrong(kind):
                (problem,) = ask(name, dumped(name, **{field: value}))
                assert (problem["loc"], problem["type"]) == (["body", field], TYPES[kind.rstrip("!?")][1]), value


def test_a_value_of_another_type_in_the_content_of_a_notice_is_refused_at_its_property(ask):
    name = "PATCH notices/<str:notice_id>"
    for field, kind in CONTENT.items():
        for value in wrong(kind):
            (problem,) = ask(name, dumped(name, content={field: value}))
            assert (problem["loc"], problem["type"]) == (["body", "content", field], TYPES[kind][1]), value


def test_a_statement_item_has_two_texts(ask, subtests):
    for item in ({"statement": 5, "source": "s"}, {"statement": "s"}, {"source": "s"}, "s", None):
        with subtests.test(item=item):
            name = "PATCH notices/<str:notice_id>"
            for field in ("decision_summary", "role_of_automated_system", "main_factors", "inputs_used"):
                (problem,) = ask(name, dumped(name, content={field: [item]}))
                assert problem["loc"][:4] == ["body", "content", field, 0]


def test_required_fields_that_are_missing_are_named_and_no_others(ask, subtests):
    required = {
        name: [field for field, kind in fields.items() if kind.endswith("!")] for name, fields in FIELDS.items()
    }
    for name, fields in required.items():
        with subtests.test(name):
            problems = ask(name, b"{}") if fields else []
            assert {(tuple(problem["loc"]), problem["type"]) for problem in problems} == {
                (("body", field), "missing") for field in fields
            }


OUT_OF_BOUNDS = [
    ("POST auth/api-keys", "name", "x" * 257, "string_too_long"),
    ("POST auth/otp/request", "intent", "x" * 65, "string_too_long"),
    ("POST auth/invites", "role", "boss", "literal_error"),
    ("POST decisions/<any:decision_id>/reconsideration", "outcome", "", "string_too_short"),
    ("POST decisions/<any:decision_id>/reconsideration", "outcome", "x" * 65, "string_too_long"),
    ("POST decisions/<any:decision_id>/notices", "pack", "unknown", "literal_error"),
    ("PUT retention", "days", 0, "greater_than_equal"),
    ("PUT retention", "days", 36_501, "less_than_equal"),
    ("POST ingest/srf", "decision_id", "", "string_too_short"),
    ("POST ingest/srf", "decision_id", "x" * 257, "string_too_long"),
]


def test_a_value_out_of_bounds_is_refused_at_its_field(ask, subtests):
    for name, field, value, kind in OUT_OF_BOUNDS:
        with subtests.test(name=name, field=field, value=value, kind=kind):
            (problem,) = ask(name, dumped(name, **{field: value}))
            assert (problem["loc"], problem["type"]) == (["body", field], kind)


def test_each_value_of_a_custody_configuration_is_a_text_and_its_names_are_free(ask, api):
    name = "POST custody/test"
    for value in wrong("string"):
        (problem,) = ask(name, dumped(name, config={"any name": value}))
        assert (problem["loc"], problem["type"]) == (["body", "config", "any name"], "string_type")
    for provider in ("aws", "gcp", "azure"):
        body = json.dumps({"provider": provider, "config": {"any name": "x"}}).encode()
        answer = api.post("/v1/custody/test", body).json()
        assert (answer["provider"], answer["ok"], answer["changed"]) == (provider, False, False)


def test_a_missing_body_is_a_422_for_every_content_type(ask, subtests):
    for name in BODIES:
        with subtests.test(name=name):
            for headers in ({}, {"CONTENT_TYPE": "application/json"}, {"CONTENT_TYPE": "text/plain"}):
                assert ask(name, b"", **headers) == [{"type": "missing", "loc": ["body"], "msg": "Field required"}]


def test_a_body_of_another_type_is_a_415(organization, api, browser_of, subtests):
    belongings = Belongings(api)
    others = cycle(["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1"])
    for name, other in zip(BODIES, others, strict=False):
        with subtests.test(name, type=other):
            method, endpoint = name.partition(" ")[0], ENDPOINTS[name]
            path = "/v1/" + belongings.shared(endpoint.path)
            client = browser_of(organization, Role.OWNER) if endpoint.callers == "members" else api.client
            assert client.generic(method, path, b"x", content_type=other).status_code == 415


def test_a_body_that_is_not_an_object_is_a_422(ask, subtests):
    names = [name for name in BODIES if ENDPOINTS[name].content_type == "application/json"]
    for name, bodies in zip(names, cycle([(b"[]", b"5"), (b'"x"', b"null"), (b"true", b"[{}]")]), strict=False):
        with subtests.test(name=name):
            for body in bodies:
                (problem,) = ask(name, body)
                assert problem["loc"] == ["body"]
                assert problem["type"] in ("model_type", "dict_type")


@pytest.mark.parametrize(("value", "status"), [(1, 200), (1.0, 200), ("1", 422), (True, 422), (1.5, 422), (None, 200)])
def test_an_integer_may_have_a_fraction_of_zero(api, value, status):
    assert api.ingest(RECORD).status_code == 201
    notice = api.post("/v1/decisions/loan-1/notices", b"{}").json()["notice_id"]
    body = json.dumps({"approver": "a", "authority": "b", "revision": value}).encode()
    answer = api.post(f"/v1/notices/{notice}/approve", body)
    assert answer.status_code == status, answer.content
    if status == 422:
        assert answer.json()["detail"][0]["loc"] == ["body", "revision"]
