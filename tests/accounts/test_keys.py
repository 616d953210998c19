"""API keys: stored as a keyed digest, shown once, revocable, expiring, and valid under a new pepper."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.apps import apps
from django.db import IntegrityError
from django.utils import timezone

from accounts import callers, services, token_hashing
from accounts.models import ApiKey, AuditEvent
from accounts.roles import MEMBER_ROLES, Role
from tests.conftest import Api
from tests.peppers import forget_earlier_peppers, new_pepper

pytestmark = pytest.mark.django_db


def create(api: Api, name: str = "integration") -> dict:
    answer = api.client.post("/v1/auth/api-keys", {"name": name}, content_type="application/json")
    assert answer.status_code == 201
    return answer.json()


def everything_stored() -> str:
    rows = (model._default_manager.values_list() for model in apps.get_models())
    return "\n".join(str(row) for table in rows for row in table)


def test_a_new_key_is_answered_with_its_credential_and_opens_the_api(api):
    made = create(api)
    assert re.fullmatch(r"drs_[0-9a-f]{16}_[\w-]{43}", made["api_key"], re.ASCII)
    assert made["api_key"].startswith(f"drs_{made['key_id']}_")
    shown = {name: made[name] for name in ("name", "role", "expires_at", "revoked_at", "last_used_at")}
    assert shown == {
        "name": "integration", "role": "owner", "expires_at": None, "revoked_at": None, "last_used_at": None,
    }  # fmt: skip
    assert made["created_by"] == "key test"
    assert Api(api.organization, made["api_key"]).get("/v1/decisions").status_code == 200


def test_no_table_holds_a_credential_or_its_secret(api):
    token = create(api)["api_key"]
    stored = everything_stored()
    assert token not in stored
    assert token.split("_", 2)[2] not in stored
    assert token.split("_", 2)[1] in stored


def test_the_digest_cannot_be_checked_without_the_pepper(api):
    key = ApiKey.objects.get(key_id=create(api)["key_id"])
    token = create(api)["api_key"]
    assert token_hashing.matches("accounts.ApiKey", token.split("_", 2)[2], ApiKey.objects.latest("pk").digest)
    new_pepper()
    forget_earlier_peppers()
    assert not token_hashing.matches("accounts.ApiKey", token.split("_", 2)[2], ApiKey.objects.latest("pk").digest)
    assert len(key.digest) == 64


def test_lists_show_keys_newest_first_and_never_their_secrets(api):
    made = [create(api, name) for name in ("first", "second", "third")]
    items = api.get("/v1/auth/api-keys").json()["items"]
    assert [item["name"] for item in items] == ["third", "second", "first", "test"]
    text = api.get("/v1/auth/api-keys").content.decode()
    assert not any(key["api_key"].split("_", 2)[2] in text for key in made)
    assert all("api_key" not in item and "digest" not in item for item in items)


def test_the_list_of_keys_has_pages(api):
    for number in range(4):
        create(api, str(number))
    first = api.get("/v1/auth/api-keys", limit=3).json()
    second = api.get("/v1/auth/api-keys", limit=3, cursor=first["next_cursor"]).json()
    assert [item["name"] for item in first["items"] + second["items"]] == ["3", "2", "1", "0", "test"]
    assert second["next_cursor"] is None


@pytest.mark.parametrize("name", ["", "x" * 256, "\U0001f511" * 256, "Клю́ч \U0001f511", "<script>alert(1)</script>"])
def test_a_key_with_any_name_of_up_to_256_characters_works_and_makes_keys(api, name):
    made = create(api, name)
    assert made["name"] == name
    named = Api(api.organization, made["api_key"])
    further = create(named, "further")
    assert further["created_by"].startswith("key ")
    invited = named.post("/v1/auth/invites", b'{"email": "new@bank.example", "role": "editor"}')
    assert invited.status_code == 201
    assert named.client.delete(f"/v1/auth/api-keys/{further['key_id']}").status_code == 200


def test_last_use_is_noted_at_most_once_a_minute(api):
    noted = lambda: ApiKey.objects.get(name="test").last_used_at  # noqa: E731
    start = timezone.now()
    for seconds, expected in ((0, 0), (1, 0), (59, 0), (61, 61), (100, 61), (200, 200)):
        with time_machine.travel(start + timedelta(seconds=seconds), tick=False):
            assert api.get("/v1/decisions").status_code == 200
        assert noted() == start + timedelta(seconds=expected)


def test_a_refused_request_does_not_count_as_use_of_the_key(api):
    key_id = api.token.split("_")[1]
    api.client.get("/v1/decisions", headers={"Authorization": f"Bearer drs_{key_id}_{'x' * 43}"})
    assert ApiKey.objects.get(key_id=key_id).last_used_at is None


def test_a_revoked_key_stops_at_once_and_its_use_is_in_the_audit_trail(api):
    made = create(api)
    used = Api(api.organization, made["api_key"])
    assert used.get("/v1/decisions").status_code == 200
    revoked = api.client.delete(f"/v1/auth/api-keys/{made['key_id']}").json()
    assert revoked["revoked_at"].endswith("Z")
    assert used.get("/v1/decisions").status_code == 401
    event = AuditEvent.objects.get(verb="key.refused")
    assert (event.object_id, event.detail, event.organization) == (
        made["key_id"], {"because": "revoked"}, api.organization,
    )  # fmt: skip


def test_a_second_revocation_changes_nothing(api):
    made = create(api)
    first = api.client.delete(f"/v1/auth/api-keys/{made['key_id']}").json()
    again = api.client.delete(f"/v1/auth/api-keys/{made['key_id']}")
    assert (again.status_code, again.json()) == (200, first)
    assert AuditEvent.objects.filter(verb="key.revoked").count() == 1


def test_a_key_expires_at_its_moment_and_not_before(organization):
    until = timezone.now() + timedelta(days=1)
    _, token = services.create_api_key(
        caller=callers.system(organization.id), name="x", role=Role.OWNER, expires_at=until
    )
    api = Api(organization, token)
    with time_machine.travel(until - timedelta(milliseconds=1), tick=False):
        assert api.get("/v1/decisions").status_code == 200
    with time_machine.travel(until, tick=False):
        assert api.get("/v1/decisions").status_code == 401
    assert AuditEvent.objects.get(verb="key.refused").detail == {"because": "expired"}


def test_a_wrong_secret_of_a_revoked_key_is_not_in_the_audit_trail(api):
    made = create(api)
    api.client.delete(f"/v1/auth/api-keys/{made['key_id']}")
    wrong = Api(api.organization, f"drs_{made['key_id']}_{'x' * 43}")
    assert wrong.get("/v1/decisions").status_code == 401
    assert not AuditEvent.objects.filter(verb="key.refused").exists()


def test_keys_outlive_a_new_pepper_while_the_earlier_one_is_there(api):
    new_pepper()
    assert api.get("/v1/decisions").status_code == 200
    newer = Api(api.organization, create(api)["api_key"])
    forget_earlier_peppers()
    assert newer.get("/v1/decisions").status_code == 200
    assert api.get("/v1/decisions").status_code == 401


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"{}", {"type": "missing", "loc": ["body", "name"], "msg": "Field required"}),
        (b'{"name": null}', {"type": "string_type", "loc": ["body", "name"], "msg": "Input should be a valid string"}),
        (
            b'{"name": 1}',
            {"type": "string_type", "loc": ["body", "name"], "msg": "Input should be a valid string", "input": 1},
        ),
    ],
)
def test_a_key_without_a_name_is_refused_in_the_contracts_words(api, body, problem):
    answer = api.post("/v1/auth/api-keys", body)
    assert (answer.status_code, answer.json()) == (422, {"detail": [problem]})
    assert ApiKey.objects.count() == 1


GIVEN = {
    "owner": {"owner", "admin", "approver", "editor", "auditor", "sender"},
    "admin": {"admin", "approver", "editor", "auditor", "sender"},
}
"""Roles that a member of each role may give a key. Written by hand."""


@pytest.mark.parametrize("maker", sorted(GIVEN))
def test_a_keys_role_has_no_permission_that_its_makers_lacks(organization, api_for, maker):
    api = api_for(organization, Role(maker))
    for role in Role:
        answer = api.post("/v1/auth/api-keys", b'{"name": "x", "role": "%s"}' % role.encode())
        if role in GIVEN[maker]:
            assert (answer.status_code, answer.json()["role"]) == (201, role)
        else:
            sentence = "A key's role can allow nothing that yours does not. Leave the role out, or name a lower one."
            assert (answer.status_code, answer.json()) == (403, {"detail": sentence})
    assert not ApiKey.objects.filter(name="x").exclude(role__in=GIVEN[maker]).exists()


@pytest.mark.parametrize("body", [b'{"name": "x"}', b'{"name": "x", "role": null}'])
def test_a_key_has_its_makers_role_by_default(organization, api_for, body):
    assert api_for(organization, Role.ADMIN).post("/v1/auth/api-keys", body).json()["role"] == "admin"


@pytest.mark.parametrize("role", ["boss", "", "Sender", "sender "])
def test_an_unknown_role_of_a_key_is_refused_with_the_allowed_ones(api, role):
    answer = api.post("/v1/auth/api-keys", b'{"name": "x", "role": "%s"}' % role.encode())
    (problem,) = answer.json()["detail"]
    assert (answer.status_code, problem["type"], problem["loc"]) == (422, "literal_error", ["body", "role"])
    assert problem["ctx"] == {"expected": "'owner', 'admin', 'approver', 'editor', 'auditor' or 'sender'"}


@pytest.mark.parametrize("table", ["members", "invites"])
def test_the_database_itself_keeps_people_from_being_senders(organization, api, table):
    api.post("/v1/auth/invites", b'{"email": "new@bank.example", "role": "editor"}')
    rows = getattr(organization, table)
    for role in MEMBER_ROLES:
        assert rows.update(role=role) == 1
    with pytest.raises(IntegrityError, match="role_is_known"):
        rows.update(role=Role.SENDER)


def test_the_database_itself_knows_no_other_role_of_a_key(api):
    ApiKey.objects.update(role=Role.SENDER)
    with pytest.raises(IntegrityError, match="key_role_is_known"):
        ApiKey.objects.update(role="boss")
