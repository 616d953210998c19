"""The audit trail: filters, pages, roles and export, and an event for every act of access."""

import json
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts import audit, tasks
from accounts.models import AuditEvent
from accounts.roles import Role
from tests.people import Browser, accept, add_person, another, ask_for_code, mailed_token, sign_in

pytestmark = pytest.mark.django_db

OWNER = "owner@bank.example"
START = timezone.now().replace(year=2030, microsecond=0)


def items(api, **query) -> list[dict]:
    return api.get("/v1/audit", **query).json()["items"]


def exported(api, **query) -> list[dict]:
    answer = api.get("/v1/audit/export", **query)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/x-ndjson")
    return [json.loads(line) for line in answer.getvalue().splitlines()]


@pytest.fixture
def history(organization, api) -> list[str]:
    """Record six events, one an hour from START, by two actors, about two objects, with three verbs."""
    for hour in range(6):
        with time_machine.travel(START + timedelta(hours=hour), tick=False):
            audit.record(
                ("test.a", "test.b", "test.c")[hour % 3],
                actor=audit.Actor("member", str(hour % 2), "a member"),
                organization_id=organization.id,
                object_kind="key",
                object_id=f"key-{hour // 3}",
                hour=hour,
            )
    made = AuditEvent.objects.filter(verb__startswith="test").order_by("pk")
    return [str(pk) for pk in made.values_list("pk", flat=True)]


def hours(events: list[dict]) -> list[int]:
    return [event["detail"]["hour"] for event in events]


AT = {hour: (START + timedelta(hours=hour)).isoformat().replace("+00:00", "Z") for hour in range(7)}
FILTERS = [
    ({"verb": "test.a"}, [3, 0]),
    ({"actor": "1", "at_from": AT[0]}, [5, 3, 1]),
    ({"object": "key-0"}, [2, 1, 0]),
    ({"at_from": AT[4]}, [5, 4]),
    ({"at_from": AT[0], "at_to": AT[2]}, [1, 0]),
    ({"verb": "test.a", "object": "key-1", "actor": "1"}, [3]),
    ({"verb": "test.nothing"}, []),
]


@pytest.mark.parametrize(("query", "expected"), FILTERS, ids=[" ".join(query) for query, _ in FILTERS])
def test_filters_narrow_the_list_and_the_export_alike(api, history, query, expected):
    assert hours(items(api, **query)) == expected
    assert hours(exported(api, **query)) == expected[::-1], "the export is oldest first"


def test_pages_of_the_list_neither_lose_nor_repeat_events(api, history):
    events, cursor = [], ""
    while cursor is not None:
        page = api.get("/v1/audit", limit=4, at_from=AT[0], **({"cursor": cursor} if cursor else {})).json()
        events, cursor = events + page["items"], page["next_cursor"]
        audit.record(
            "test.late", actor=audit.SYSTEM, organization_id=api.organization.id, object_kind="x", object_id="x"
        )
    assert hours(events) == [5, 4, 3, 2, 1, 0]


def test_an_event_is_shown_with_all_its_fields(api, history):
    (event,) = items(api, verb="test.b", actor="0")
    assert event == {
        "event_id": history[4],
        "at": AT[4].replace("Z", ".000000Z"),
        "verb": "test.b",
        "actor": {"kind": "member", "id": "0", "label": "a member"},
        "object_kind": "key",
        "object_id": "key-1",
        "detail": {"hour": 4},
    }


def test_the_export_has_one_line_for_each_event(api, history):
    whole = exported(api)
    assert len(whole) == AuditEvent.objects.filter(organization=api.organization).count()
    assert whole[::-1] == items(api, limit=200)
    answer = api.get("/v1/audit/export")
    assert answer["Content-Disposition"] == 'attachment; filename="audit.ndjson"'


@pytest.mark.once
@pytest.mark.parametrize("path", ["/v1/audit", "/v1/audit/export"])
@pytest.mark.parametrize(
    ("query", "field"),
    [({"at_from": "yesterday"}, "at_from"), ({"at_to": "2030-01-01"}, "at_to"), ({"who": "me"}, "who"),
     ({"verb": "x" * 257}, "verb"), ({"actor": "\x00"}, "actor")],
)  # fmt: skip
def test_an_invalid_filter_is_refused(api, path, query, field):
    answer = api.get(path, **query)
    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["query", field])


@pytest.mark.once
@pytest.mark.parametrize("path", ["/v1/audit", "/v1/audit/export"])
@pytest.mark.parametrize("role", list(Role))
def test_only_owners_admins_and_auditors_read_the_trail(organization, api_for, path, role):
    allowed = role in (Role.OWNER, Role.ADMIN, Role.AUDITOR)
    assert api_for(organization, role).get(path).status_code == (200 if allowed else 403)


def test_the_trail_of_another_organization_or_the_platform_is_hidden(api, other_api, history):
    audit.record("test.platform", actor=audit.SYSTEM, organization_id=None, object_kind="x", object_id="x")
    for events in (items(other_api, limit=200), exported(other_api)):
        assert {event["verb"] for event in events} == {"organization.created", "member.added", "key.created"}


@pytest.mark.once
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_the_api_does_not_write_to_the_trail(api, history, method):
    assert api.client.generic(method, "/v1/audit", b"{}", content_type="application/json").status_code == 405


# ── events ──


def signs_in(browser: Browser, api) -> None:
    browser.submit("/sign-in/code/", code=ask_for_code(browser, OWNER))


def tries_wrong_codes(browser: Browser, api) -> None:
    browser.submit("/sign-in/code/", code=another(ask_for_code(browser, OWNER)))
    tasks.deliver_mail()


def signs_out(browser: Browser, api) -> None:
    sign_in(OWNER).call("POST", "/v1/auth/sign-out")


def ends_a_session(browser: Browser, api) -> None:
    browser = sign_in(OWNER)
    (mine,) = browser.get("/v1/auth/sessions").json()["items"]
    browser.call("DELETE", f"/v1/auth/sessions/{mine['session_id']}")


def invites_and_revokes(browser: Browser, api) -> None:
    made = api.post("/v1/auth/invites", b'{"email": "new@bank.example", "role": "editor"}').json()
    api.client.delete(f"/v1/auth/invites/{made['invite_id']}")


def accepts_an_invitation(browser: Browser, api) -> None:
    api.post("/v1/auth/invites", b'{"email": "new@bank.example", "role": "editor"}')
    accept(browser, mailed_token("new@bank.example"), "new@bank.example")


def makes_revokes_and_uses_a_key(browser: Browser, api) -> None:
    made = api.post("/v1/auth/api-keys", b'{"name": "more"}').json()
    api.client.delete(f"/v1/auth/api-keys/{made['key_id']}")
    Browser(headers={"Authorization": f"Bearer {made['api_key']}"}).get("/v1/decisions")


def changes_a_role_and_removes_the_member(browser: Browser, api) -> None:
    member = add_person(api.organization, Role.EDITOR)
    path = f"/v1/auth/members/{member.pk}"
    api.client.patch(path, {"role": "auditor"}, content_type="application/json")
    api.client.delete(path)


def asks_for_a_second_factor(browser: Browser, api) -> None:
    sign_in(OWNER).call("PATCH", "/v1/auth/organization", {"second_factor_required": True})


def does_a_first_step(browser: Browser, api) -> None:
    sign_in(OWNER).submit("/admin/", "/account/first-steps/opened/")


SIGN_IN = ["sign_in.code_sent", "sign_in.succeeded"]
ACTS = {
    signs_in: SIGN_IN,
    tries_wrong_codes: ["sign_in.code_sent", "sign_in.refused"],
    signs_out: [*SIGN_IN, "session.ended"],
    ends_a_session: [*SIGN_IN, "session.ended"],
    invites_and_revokes: ["invite.created", "invite.revoked"],
    accepts_an_invitation: ["invite.created", "member.added", "invite.accepted", "sign_in.succeeded"],
    makes_revokes_and_uses_a_key: ["key.created", "key.revoked", "key.refused"],
    changes_a_role_and_removes_the_member: ["member.added", "member.role_changed", "member.removed"],
    asks_for_a_second_factor: [*SIGN_IN, "guard.tightened", "organization.second_factor"],
    does_a_first_step: [*SIGN_IN, "member.onboarding"],
}


@pytest.mark.once
@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
def test_every_act_of_access_is_in_the_trail_of_its_organization(api, act):
    before = AuditEvent.objects.latest("pk").pk
    act(Browser(), api)
    events = list(AuditEvent.objects.filter(pk__gt=before).order_by("pk"))
    assert [event.verb for event in events] == ACTS[act]
    assert {event.organization_id for event in events} == {api.organization.id}
    assert all(event.actor_label and event.object_id for event in events)
