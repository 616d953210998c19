"""A decision, a notice about it, and people who work on it, through the API as integrators send it."""

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
    """The answer to a request below /v1/, by a key or from the browser of a member."""
    if isinstance(who, Browser):
        return who.call(method, f"/v1/{path}", {} if body is None else body)
    return who.client.generic(method, f"/v1/{path}", json.dumps(body or {}), content_type="application/json")


def done(answer: Any) -> dict[str, Any]:
    """What an answer holds, once it says that it went well."""
    assert answer.status_code in (200, 201), answer.content
    return answer.json()


def refused(answer: Any) -> str:
    """The sentence of a conflict."""
    assert answer.status_code == 409, answer.content
    return answer.json()["detail"]


def drafted(api: Api, decision_id: str = "loan-1", **body: Any) -> dict[str, Any]:
    return done(send(api, "POST", f"decisions/{decision_id}/notices", body))


def step(who: Api | Browser, notice: dict[str, Any], name: str, body: Any = None) -> Any:
    """The answer to what is done with a notice: `approve`, `withdraw`, `deliveries` and so on."""
    return send(who, "POST", f"notices/{notice['notice_id']}/{name}", body)


def edit(who: Api | Browser, notice: dict[str, Any], **content: Any) -> Any:
    return send(who, "PATCH", f"notices/{notice['notice_id']}", {"content": content})


def exempt(who: Api | Browser, notice: dict[str, Any], **elements: Any) -> Any:
    """The answer to saying which elements of the checklist do not apply, each with the reason."""
    return send(who, "PUT", f"notices/{notice['notice_id']}/not-applicable", {"elements": elements})


def approve(api: Api, notice: dict[str, Any], **body: Any) -> Any:
    """The answer to an approval by a key: CLAIM with changes."""
    return step(api, notice, "approve", CLAIM | body)


def approve_as_is(api: Api, notice: dict[str, Any], **body: Any) -> Any:
    """The answer to an approval that acknowledges every warning, where the letter's words are no matter."""
    return approve(api, notice, acknowledge=warnings_of(api, notice), **body)


def approve_as_answered(api: Api, answered: dict[str, Any], **body: Any) -> Any:
    """The same for a notice that is as the last answer has it, which told its warnings."""
    return approve(api, answered, acknowledge=[warning["id"] for warning in answered["warnings"]], **body)


def warnings_of(api: Api, notice: dict[str, Any]) -> list[str]:
    """The ids of a notice's warnings as it stands, for an approval that acknowledges them all."""
    return [warning["id"] for warning in shown(api, notice)["warnings"]]


def shown(api: Api, notice: dict[str, Any], suffix: str = "") -> dict[str, Any]:
    return done(api.get(f"/v1/notices/{notice['notice_id']}{suffix}"))


def stored(api: Api, notice: dict[str, Any]) -> Notice:
    """The row of a notice, as services take it."""
    return selectors.notice(api.organization.pk, notice["notice_id"])


def acting(organization: Organization, role: Role, email: str) -> Caller:
    """A new member, as services know whoever calls them."""
    return accounts.caller(add_person(organization, role, email))


def taken_sample(api: Api, decision_id: str) -> str:
    """Ingest one of the synthetic samples. Returns its id."""
    raw = next(raw for raw in samples.synthetic_records() if json.loads(raw)["decision_id"] == decision_id)
    done(api.ingest(raw))
    return decision_id


def guard(organization: Organization, **guards: bool) -> None:
    """Set guards of four eyes at once, as if an owner had and their day was over."""
    NoticeSettings.objects.update_or_create(organization=organization, defaults=guards)


def key_of(maker: Any, api: Api) -> Api:
    """Return a new key that a session, or a key, made."""
    return Api(api.organization, done(send(maker, "POST", "auth/api-keys", {"name": "a key"}))["api_key"])


def fill_in_names(api: Api, pack: str) -> None:
    """Settle the names that a pack's texts need, and that drafts are made under it."""
    names = next(item for item in api.get("/v1/packs").json()["items"] if item["pack"] == pack)["placeholders"]
    filled = dict.fromkeys(names, "Example Credit Inc., 1 Example Street")
    done(send(api, "PUT", "notice-settings", {"default_pack": pack, "placeholders": filled}))


@pytest.fixture
def notice(api: Api) -> dict[str, Any]:
    """A draft under the organization's own policy."""

    def make() -> dict[str, Any]:
        assert api.ingest(RECORD).status_code == 201
        return drafted(api)

    return make_once("notice", make)


@pytest.fixture
def approved(api: Api, notice: dict[str, Any]) -> dict[str, Any]:
    return make_once("approved", lambda: done(approve(api, notice)))
