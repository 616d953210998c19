"""Fixtures of a decision and its notice, and helpers that call the API as integrators and members do."""

import json
from typing import Any

import pytest

from accounts import selectors as accounts
from accounts.callers import Caller
from accounts.models import Organization
from accounts.roles import Role
from decisions import samples
from notices import selectors
from notices.models import Notice, NoticeSettings
from tests.conftest import Api
from tests.people import Browser, add_person
from tests.support.kept_rows import make_once

RECORD = {
    "decision_id": "loan-1",
    "decided_at": "2026-11-02T10:00:00Z",
    "events": {"application": {"loan_to_value": 0.92, "self_employed": False}},
    "outcome": {"action": "denied", "reasons": ["The loan is larger than the limit of 90 % of the value."]},
}
CLAIM = {"approver": "Reviewer 7", "authority": "credit officer"}


def send(who: Api | Browser, method: str, path: str, body: Any = None) -> Any:
    """Return the response to a request below /v1/, by a key or from a member's browser."""
    if isinstance(who, Browser):
        return who.call(method, f"/v1/{path}", {} if body is None else body)
    return who.client.generic(method, f"/v1/{path}", json.dumps(body or {}), content_type="application/json")


def done(answer: Any) -> dict[str, Any]:
    """Return the body of a response that succeeded."""
    assert answer.status_code in (200, 201), answer.content
    return answer.json()


def refused(answer: Any) -> str:
    """Return the sentence of a 409 response."""
    assert answer.status_code == 409, answer.content
    return answer.json()["detail"]


def drafted(api: Api, decision_id: str = "loan-1", **body: Any) -> dict[str, Any]:
    return done(send(api, "POST", f"decisions/{decision_id}/notices", body))


def step(who: Api | Browser, notice: dict[str, Any], name: str, body: Any = None) -> Any:
    """Post an action on a notice (`approve`, `withdraw`, `deliveries` …) and return the response."""
    return send(who, "POST", f"notices/{notice['notice_id']}/{name}", body)


def edit(who: Api | Browser, notice: dict[str, Any], **content: Any) -> Any:
    return send(who, "PATCH", f"notices/{notice['notice_id']}", {"content": content})


def exempt(who: Api | Browser, notice: dict[str, Any], **elements: Any) -> Any:
    """Mark checklist elements as not applicable, each with its reason, and return the response."""
    return send(who, "PUT", f"notices/{notice['notice_id']}/not-applicable", {"elements": elements})


def approve(api: Api, notice: dict[str, Any], **body: Any) -> Any:
    """Approve a notice with an API key: CLAIM with changes."""
    return step(api, notice, "approve", CLAIM | body)


def approve_acknowledged(api: Api, notice: dict[str, Any], **body: Any) -> Any:
    """Approve a notice and acknowledge every warning, for tests in which the words do not matter."""
    return approve(api, notice, acknowledge=warnings_of(api, notice), **body)


def approve_as_listed(api: Api, answered: dict[str, Any], **body: Any) -> Any:
    """Approve a notice and acknowledge the warnings that the last response listed."""
    return approve(api, answered, acknowledge=[warning["id"] for warning in answered["warnings"]], **body)


def warnings_of(api: Api, notice: dict[str, Any]) -> list[str]:
    """Return the ids of a notice's current warnings, for an approval that acknowledges them all."""
    return [warning["id"] for warning in shown(api, notice)["warnings"]]


def shown(api: Api, notice: dict[str, Any], suffix: str = "") -> dict[str, Any]:
    return done(api.get(f"/v1/notices/{notice['notice_id']}{suffix}"))


def stored(api: Api, notice: dict[str, Any]) -> Notice:
    """Return the row of a notice, as services take it."""
    return selectors.notice(api.organization.pk, notice["notice_id"])


def acting(organization: Organization, role: Role, email: str) -> Caller:
    """Add a member and return the caller that services get."""
    return accounts.caller(add_person(organization, role, email))


def ingest_sample(api: Api, decision_id: str) -> str:
    """Ingest one of the synthetic samples and return its id."""
    raw = next(raw for raw in samples.synthetic_records() if json.loads(raw)["decision_id"] == decision_id)
    done(api.ingest(raw))
    return decision_id


def guard(organization: Organization, **guards: bool) -> None:
    """Set four-eyes guards at once, as if an owner had set them and the waiting day had passed."""
    NoticeSettings.objects.update_or_create(organization=organization, defaults=guards)


def key_of(maker: Any, api: Api) -> Api:
    """Return a new API key that a session or another key made."""
    return Api(api.organization, done(send(maker, "POST", "auth/api-keys", {"name": "a key"}))["api_key"])


def fill_in_names(api: Api, pack: str) -> None:
    """Make a pack the default, and fill in the placeholders of its texts."""
    names = next(item for item in api.get("/v1/packs").json()["items"] if item["pack"] == pack)["placeholders"]
    filled = dict.fromkeys(names, "Example Credit Inc., 1 Example Street")
    done(send(api, "PUT", "notice-settings", {"default_pack": pack, "placeholders": filled}))


@pytest.fixture
def notice(api: Api) -> dict[str, Any]:
    """Return a draft under the organization's own policy."""

    def make() -> dict[str, Any]:
        assert api.ingest(RECORD).status_code == 201
        return drafted(api)

    return make_once("notice", make)


@pytest.fixture
def approved(api: Api, notice: dict[str, Any]) -> dict[str, Any]:
    return make_once("approved", lambda: done(approve(api, notice)))
