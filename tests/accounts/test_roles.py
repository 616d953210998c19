"""Roles and the endpoints they may call, for keys and for signed-in members."""

from contextlib import nullcontext

import pytest

from accounts.models import SignedInSession
from accounts.roles import MEMBER_ROLES, Role
from tests.accounts.belongings import Belongings
from tests.accounts.endpoints import ENDPOINTS, EVERY_MEMBER, FOR_KEYS_ALONE, MISSING_IDS, OPEN_DOCUMENT, routed
from tests.support.undone import undone

pytestmark = pytest.mark.django_db


def test_entries_and_endpoints_match():
    assert routed() == {*ENDPOINTS, OPEN_DOCUMENT}


def test_the_roles_are_those_of_the_entries():
    assert {role.value for role in Role} == EVERY_MEMBER | FOR_KEYS_ALONE
    assert set(MEMBER_ROLES) == EVERY_MEMBER


def call(client, name: str, path: str, body: bytes | None = None):
    endpoint = ENDPOINTS[name]
    method, sent = name.partition(" ")[0], endpoint.body if body is None else body
    answer = client.generic(method, f"/v1/{path}", sent, content_type=endpoint.content_type)
    answer.getvalue()  # reads a streamed answer to its end, as a client would
    return answer


BY_ROLE = [name for name, endpoint in ENDPOINTS.items() if endpoint.callers == "keys and members"]
FOR_MEMBERS = [name for name, endpoint in ENDPOINTS.items() if endpoint.callers == "members"]


def test_a_key_may_do_what_its_role_may(organization, api, api_for):
    clients = {role: api_for(organization, role).client for role in Role}
    assert misses(clients, Belongings(api), {}) == {}


def test_a_member_may_do_what_their_role_may(organization, api, browser_of):
    """Permissions are the same as for keys, so the last allowed role of each endpoint is enough."""
    browsers = {role: browser_of(organization, role) for role in MEMBER_ROLES}
    bodies = {name: ENDPOINTS[name].as_member for name in BY_ROLE}
    assert misses(browsers, Belongings(api), bodies, last_alone=True) == {}


def misses(
    callers: dict, belongings: Belongings, bodies: dict[str, bytes | None], *, last_alone: bool = False
) -> dict[tuple[str, str], int]:
    """Return the roles whose answer differs from an endpoint's entry.

    They all call it on the same object, and find it unchanged.
    """
    missed = {}
    for name in BY_ROLE:
        path = belongings.shared(ENDPOINTS[name].path)
        allowed = [role for role in callers if role in ENDPOINTS[name].roles]
        skipped = allowed[:-1] if last_alone else []
        for role, client in callers.items():
            if role in skipped:
                continue
            may = role in allowed
            with undone() if may else nullcontext():  # a refused call changes nothing
                status = call(client, name, path, bodies.get(name)).status_code
            if status not in ((200, 201) if may else (403,)):
                missed[name, role.value] = status
    return missed


def test_a_sender_s_key_ingests_and_opens_nothing_else(organization, api_for):
    """Without the entries: every endpoint for known callers but these two refuses it, also for missing objects."""
    client = api_for(organization, Role.SENDER).client
    answers = {
        name: call(client, name, ENDPOINTS[name].path.format(**MISSING_IDS)) for name in [*BY_ROLE, *FOR_MEMBERS]
    }
    accepted = {name for name, answer in answers.items() if answer.status_code not in (401, 403)}
    assert accepted == {"POST ingest/srf", "POST ingest/srf/batch"}
    assert answers["GET auth/me"].json() == {"detail": "The role sender may ingest decision records, and nothing else."}


@pytest.mark.parametrize("role", MEMBER_ROLES)
def test_every_member_has_their_own_sessions_and_onboarding(role, organization, browser_of):
    browser = browser_of(organization, role)
    mine = SignedInSession.objects.get()
    assert browser.patch("/v1/auth/onboarding", {"opened": True}, content_type="application/json").status_code == 200
    assert browser.get("/v1/auth/onboarding").json()["opened"] is True
    assert [row["session_id"] for row in browser.get("/v1/auth/sessions").json()["items"]] == [str(mine.pk)]
    assert browser.delete(f"/v1/auth/sessions/{mine.pk}").status_code == 200
    assert browser.get("/v1/auth/me").status_code == 401


@pytest.mark.parametrize("name", FOR_MEMBERS)
def test_a_key_has_no_sessions(name, api):
    answer = call(api.client, name, Belongings(api).filled(ENDPOINTS[name].path))
    assert answer.status_code in (401, 403)


def test_a_refusal_names_the_role_and_the_missing_permission(organization, api_for):
    answer = api_for(organization, Role.AUDITOR).ingest({"decision_id": "loan-1"})
    assert answer.json() == {"detail": "The role auditor may not ingest decision records."}


def test_only_an_owner_invites_an_owner(organization, api_for):
    body = b'{"email": "second@bank.example", "role": "owner"}'
    assert api_for(organization, Role.ADMIN).post("/v1/auth/invites", body).status_code == 403
    assert api_for(organization, Role.OWNER).post("/v1/auth/invites", body).status_code == 201
