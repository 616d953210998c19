"""Which role may call which endpoint, for keys and for signed-in members."""

import pytest

from accounts.models import SignedInSession
from accounts.roles import Role
from tests.accounts.belongings import Belongings
from tests.accounts.endpoints import ENDPOINTS, EVERY_ROLE, OPEN_DOCUMENT, Endpoint, routed

pytestmark = pytest.mark.django_db


def test_every_endpoint_has_an_entry_and_every_entry_an_endpoint():
    assert routed() == {*ENDPOINTS, OPEN_DOCUMENT}


def test_the_roles_are_the_five_of_the_entries():
    assert {role.value for role in Role} == EVERY_ROLE


@pytest.fixture
def belongings(api) -> Belongings:
    return Belongings(api)


def call(client, name: str, endpoint: Endpoint, belongings: Belongings, body: bytes | None = None):
    method, path = name.partition(" ")[0], "/v1/" + belongings.filled(endpoint.path)
    sent = endpoint.body if body is None else body
    answer = client.generic(method, path, sent, content_type=endpoint.content_type)
    answer.getvalue()  # reads a streamed answer to its end, as a client would
    return answer


BY_ROLE = [name for name, endpoint in ENDPOINTS.items() if endpoint.callers == "keys and members"]
FOR_MEMBERS = [name for name, endpoint in ENDPOINTS.items() if endpoint.callers == "members"]


@pytest.mark.parametrize("role", sorted(EVERY_ROLE))
@pytest.mark.parametrize("name", BY_ROLE)
def test_a_key_may_do_what_its_role_may(name, role, organization, api_for, belongings):
    answer = call(api_for(organization, Role(role)).client, name, ENDPOINTS[name], belongings)
    assert answer.status_code in ((200, 201) if role in ENDPOINTS[name].roles else (403,)), answer.content


@pytest.mark.parametrize("role", sorted(EVERY_ROLE))
def test_a_member_may_do_what_their_role_may(role, organization, browser_of, belongings):
    browser = browser_of(organization, Role(role))
    for name in BY_ROLE:
        endpoint = ENDPOINTS[name]
        answer = call(browser, name, endpoint, belongings, endpoint.as_member)
        assert (answer.status_code == 403) == (role not in endpoint.roles), name
        assert answer.status_code in (200, 201, 403), (name, answer.content)


@pytest.mark.parametrize("role", sorted(EVERY_ROLE))
def test_every_member_has_their_own_sessions_and_onboarding(role, organization, browser_of):
    browser = browser_of(organization, Role(role))
    mine = SignedInSession.objects.get()
    assert browser.patch("/v1/auth/onboarding", {"opened": True}, content_type="application/json").status_code == 200
    assert browser.get("/v1/auth/onboarding").json()["opened"] is True
    assert [row["session_id"] for row in browser.get("/v1/auth/sessions").json()["items"]] == [str(mine.pk)]
    assert browser.delete(f"/v1/auth/sessions/{mine.pk}").status_code == 200
    assert browser.get("/v1/auth/me").status_code == 401


@pytest.mark.parametrize("name", FOR_MEMBERS)
def test_a_key_is_no_person_and_has_no_sessions(name, api, belongings):
    answer = call(api.client, name, ENDPOINTS[name], belongings)
    assert answer.status_code in (401, 403)


def test_the_refusal_names_the_role_and_what_it_may_not_do(organization, api_for):
    answer = api_for(organization, Role.AUDITOR).ingest({"decision_id": "loan-1"})
    assert answer.json() == {"detail": "The role auditor may not ingest decision records."}


def test_a_new_key_carries_the_role_of_its_creator_whatever_the_body_says(organization, api_for):
    admin = api_for(organization, Role.ADMIN)
    answer = admin.post("/v1/auth/api-keys", b'{"name": "more", "role": "owner"}')
    assert (answer.status_code, answer.json()["role"]) == (201, "admin")


def test_only_an_owner_invites_an_owner(organization, api_for):
    body = b'{"email": "second@bank.example", "role": "owner"}'
    assert api_for(organization, Role.ADMIN).post("/v1/auth/invites", body).status_code == 403
    assert api_for(organization, Role.OWNER).post("/v1/auth/invites", body).status_code == 201
