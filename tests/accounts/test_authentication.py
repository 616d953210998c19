"""Authentication without credentials, with wrong ones, and with a session that other sites try to use."""

from collections.abc import Callable

import pytest
from django.test import Client

from accounts.roles import Role
from decisions.models import Decision
from tests.accounts.endpoints import ENDPOINTS, MISSING_IDS

pytestmark = pytest.mark.django_db

PROTECTED = [name for name, endpoint in ENDPOINTS.items() if endpoint.callers != "anybody"]
BY_KEY = [name for name, endpoint in ENDPOINTS.items() if endpoint.callers == "keys and members"]
ANONYMOUS = Client(raise_request_exception=False)


def call(client: Client, name: str, **headers: str):
    endpoint = ENDPOINTS[name]
    path = "/v1/" + endpoint.path.format(**MISSING_IDS)
    content_type = endpoint.content_type
    return client.generic(name.partition(" ")[0], path, endpoint.body, content_type=content_type, headers=headers)


def misses(names: list[str], keeps: Callable[[str], bool]) -> list[str]:
    """Return the endpoints that break a rule, so that one set-up serves all endpoints and the test names every miss."""
    assert names
    return [name for name in names if not keeps(name)]


def test_without_credentials_every_endpoint_answers_401_with_its_scheme():
    def keeps(name: str) -> bool:
        answer = call(ANONYMOUS, name)
        named = answer.headers.get("WWW-Authenticate", "").startswith(("Bearer", "Session"))
        return answer.status_code == 401 and list(answer.json()) == ["detail"] and named

    assert misses(PROTECTED, keeps) == []


@pytest.mark.parametrize("name", sorted(set(ENDPOINTS) - set(PROTECTED)))
def test_public_endpoints_ignore_credentials(name):
    plain = call(ANONYMOUS, name)
    assert plain.status_code in (200, 401, 404)
    for credentials in ("Bearer nonsense", f"Bearer drs_{'0' * 16}_{'x' * 43}", "Basic x"):
        answer = call(ANONYMOUS, name, Authorization=credentials)
        assert (answer.status_code, answer.json()) == (plain.status_code, plain.json())
    assert ANONYMOUS.put("/v1/" + ENDPOINTS[name].path).status_code == 405


def test_a_wrong_key_is_401_at_every_endpoint():
    sentence = "This API key is not valid here: check that it is complete, not revoked and not expired."

    def keeps(name: str) -> bool:
        answer = call(ANONYMOUS, name, Authorization=f"Bearer drs_{'0' * 16}_{'x' * 43}")
        refusal = (answer.status_code, answer.headers.get("WWW-Authenticate"), answer.json())
        return refusal == (401, "Bearer", {"detail": sentence})

    assert misses(BY_KEY, keeps) == []


MALFORMED = [
    "Bearer",
    "Bearer ",
    "Bearer x",
    "Bearer drs_",
    "Bearer drs_{id}",
    "Bearer drs_{id}_",
    "Bearer drs_{id}_{secret}x",
    "Bearer drs_{id}_{secret} x",
    "Bearer {secret}",
    "Basic drs_{id}_{secret}",
    "Token drs_{id}_{secret}",
    "drs_{id}_{secret}",
    "Bearer DRS_{id}_{secret}",
    "Bearer,drs_{id}_{secret}",
    "Bearer drs_{id}_{secret},Bearer drs_{id}_{secret}",
    "Bearer ﬀ",
    "Bearer drs_" + "\uff11" * 16 + "_{secret}",  # digits to Unicode, not to us
    "Bearer drs_{id}_" + "x" * 100_000,
]


def test_a_malformed_header_is_401_and_never_a_session(api, organization, browser_of, subtests):
    browser = browser_of(organization, Role.OWNER)
    for header in MALFORMED:
        with subtests.test(header=header):
            _, key_id, secret = api.token.split("_", 2)
            sent = header.replace("{id}", key_id).replace("{secret}", secret)
            answer = browser.get("/v1/decisions", HTTP_AUTHORIZATION=sent)
            assert answer.status_code == 401
            assert secret not in answer.content.decode()


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_is_read_in_any_case(scheme, api):
    assert ANONYMOUS.get("/v1/decisions", headers={"Authorization": f"{scheme} {api.token}"}).status_code == 200


def test_the_secret_of_one_key_does_not_open_another(api, organization, api_for):
    secret = api.token.split("_", 2)[2]
    other_id = api_for(organization, Role.OWNER).token.split("_")[1]
    answer = ANONYMOUS.get("/v1/decisions", headers={"Authorization": f"Bearer drs_{other_id}_{secret}"})
    assert answer.status_code == 401


CHANGES = [name for name, endpoint in ENDPOINTS.items() if not name.startswith("GET") and endpoint.callers != "anybody"]


@pytest.mark.parametrize("token", [None, "", "x" * 64])
def test_a_session_changes_nothing_without_its_csrf_token(token, organization, browser_of):
    browser = browser_of(organization, Role.OWNER)
    del browser.defaults["HTTP_X_CSRFTOKEN"]
    headers = {} if token is None else {"X-CSRFToken": token}

    def keeps(name: str) -> bool:
        answer = call(browser, name, **headers)
        return answer.status_code == 403 and "CSRF" in answer.json()["detail"] and not Decision.objects.exists()

    assert misses(CHANGES, keeps) == []


def test_a_session_with_its_csrf_token_ingests_and_a_key_needs_none(organization, api, browser_of):
    browser = browser_of(organization, Role.OWNER)
    answer = browser.post("/v1/ingest/srf", b'{"decision_id": "by-member"}', content_type="application/json")
    assert answer.status_code == 201
    keyed = Client(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {api.token}"})
    answer = keyed.post("/v1/ingest/srf", b'{"decision_id": "by-key"}', content_type="application/json")
    assert answer.status_code == 201


def test_another_sites_token_is_refused_with_the_browsers_cookie(organization, browser_of):
    mine, foreign = browser_of(organization, Role.OWNER), browser_of(organization, Role.ADMIN)
    mine.defaults["HTTP_X_CSRFTOKEN"] = foreign.defaults["HTTP_X_CSRFTOKEN"]
    answer = mine.post("/v1/ingest/srf", b'{"decision_id": "x"}', content_type="application/json")
    assert answer.status_code == 403


def test_a_deactivated_person_loses_access_at_once(organization, browser_of):
    browser = browser_of(organization, Role.OWNER)
    organization.members.get(role=Role.OWNER, user__email__startswith="owner@example-bank").user.delete()
    assert browser.get("/v1/decisions").status_code == 401


def test_a_person_without_an_organization_gets_a_401_with_the_reason(organization, browser_of):
    browser = browser_of(organization, Role.EDITOR)
    organization.members.filter(role=Role.EDITOR).delete()
    answer = browser.get("/v1/decisions")
    assert answer.status_code == 401
    assert answer.json() == {"detail": "You are signed in, but a member of no organization."}
