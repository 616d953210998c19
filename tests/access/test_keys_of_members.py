"""A member who leaves or loses permissions leaves no working keys, unless an admin keeps them."""

import pytest

from accounts import audit, callers, selectors, services
from accounts.callers import Caller
from accounts.models import ApiKey, Member
from accounts.roles import MEMBER_ROLES, Role, permissions
from accounts.services import lineage
from tests.people import add_person, events, sign_in

pytestmark = pytest.mark.django_db

JSON = "application/json"


@pytest.fixture
def admin(organization) -> Member:
    return add_person(organization, Role.ADMIN)


@pytest.fixture
def made(admin) -> list[str]:
    """Make two keys, the first by the admin, the second by the first. Return their ids."""
    browser = sign_in(admin.user.email)
    first = browser.call("POST", "/v1/auth/api-keys", {"name": "nightly import"}).json()
    headers = {"Authorization": f"Bearer {first['api_key']}"}
    second = browser.generic("POST", "/v1/auth/api-keys", b'{"name": "more"}', content_type=JSON, headers=headers)
    return [first["key_id"], second.json()["key_id"]]


def demote(api, member, keep=None, role="editor"):
    body = {"role": role} | ({} if keep is None else {"keep_keys": keep})
    return api.client.patch(f"/v1/auth/members/{member.pk}", body, content_type=JSON)


def remove(api, member, keep=None):
    query = "" if keep is None else f"?keep_keys={str(keep).lower()}"
    return api.client.delete(f"/v1/auth/members/{member.pk}{query}")


BOTH = pytest.mark.parametrize("act", [demote, remove], ids=["demoted", "removed"])


def working() -> set[str]:
    return set(ApiKey.objects.filter(revoked_at=None).exclude(name="test").values_list("key_id", flat=True))


@BOTH
@pytest.mark.parametrize("keep", [None, False])
def test_their_keys_are_listed_and_revoked_with_those_that_these_made(api, admin, made, act, keep):
    answer = act(api, admin, keep)
    assert answer.status_code == 200
    listed = answer.json()["keys"]
    assert [(key["key_id"], key["name"], key["role"]) for key in listed] == [
        (made[1], "more", "admin"),
        (made[0], "nightly import", "admin"),
    ]
    assert all(key["revoked_at"] for key in listed)
    assert working() == set()
    revoked = events("key.revoked")
    assert {event.object_id for event in revoked} == set(made)
    assert {event.actor_label for event in revoked} == {"test"}


@BOTH
def test_a_revoked_key_of_theirs_opens_nothing(api, admin, act):
    browser = sign_in(admin.user.email)
    token = browser.call("POST", "/v1/auth/api-keys", {"name": "x"}).json()["api_key"]
    act(api, admin)
    answer = api.client.get("/v1/decisions", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 401


@BOTH
def test_kept_keys_go_on_and_the_audit_trail_names_them(api, admin, made, act):
    answer = act(api, admin, True)
    assert [key["revoked_at"] for key in answer.json()["keys"]] == [None, None]
    assert working() == set(made)
    (event,) = events("member.role_changed") or events("member.removed")
    assert sorted(event.detail["kept_keys"]) == sorted(made)


@BOTH
def test_other_peoples_keys_and_those_of_other_organizations_go_on(api, other_api, admin, act):
    colleague = add_person(api.organization, Role.ADMIN, "colleague@bank.example")
    elsewhere = add_person(other_api.organization, Role.ADMIN, admin.user.email)
    for member in (colleague, elsewhere):
        services.create_api_key(
            caller=Caller(member.organization_id, Role.ADMIN, selectors.caller(member).actor), name="x", role=Role.ADMIN
        )
    before = working()
    assert act(api, admin).json()["keys"] == []
    assert working() == before
    assert len(before) == 2


@BOTH
def test_keys_that_do_not_work_any_more_are_not_listed(api, admin, made, act):
    api.client.delete(f"/v1/auth/api-keys/{made[1]}")
    assert [key["key_id"] for key in act(api, admin).json()["keys"]] == [made[0]]


@BOTH
def test_a_refused_request_revokes_nothing(organization, api, act):
    owner = organization.members.get()
    key, _ = services.create_api_key(
        caller=Caller(organization.pk, Role.OWNER, selectors.caller(owner).actor), name="x", role=Role.OWNER
    )
    assert act(api, owner).status_code == 409
    assert working() == {key.key_id}


@pytest.mark.parametrize("before", MEMBER_ROLES)
def test_a_role_with_the_same_permissions_or_more_revokes_nothing(organization, api, before):
    for role in MEMBER_ROLES:
        member = add_person(organization, Role.OWNER, f"{role}@bank.example")
        key, _ = services.create_api_key(caller=selectors.caller(member), name="x", role=before)
        Member.objects.filter(pk=member.pk).update(role=before)
        answer = demote(api, member, role=role)
        loses = bool(permissions(before) - permissions(role))
        assert [item["key_id"] for item in answer.json()["keys"]] == ([key.key_id] if loses else []), role
        assert (key.key_id in working()) != loses, role


@pytest.mark.parametrize("keep", ["yes please", "", "2"])
def test_keep_keys_is_true_or_false(api, admin, keep):
    assert api.client.delete(f"/v1/auth/members/{admin.pk}?keep_keys={keep}").status_code == 422
    assert demote(api, admin, keep).status_code == 422
    admin.refresh_from_db()
    assert admin.role == Role.ADMIN


def test_a_key_that_removes_its_maker_is_revoked_with_the_others(api, admin):
    browser = sign_in(admin.user.email)
    own = browser.call("POST", "/v1/auth/api-keys", {"name": "own"}).json()
    headers = {"Authorization": f"Bearer {own['api_key']}"}
    answer = api.client.delete(f"/v1/auth/members/{admin.pk}", headers=headers)
    assert [key["key_id"] for key in answer.json()["keys"]] == [own["key_id"]]
    assert api.client.get("/v1/auth/me", headers=headers).status_code == 401


def test_a_removed_or_demoted_member_makes_no_key(organization, admin):
    actor = selectors.caller(admin).actor
    Member.objects.update(role=Role.EDITOR)
    for attempt in range(2):
        with pytest.raises(lineage.MayNoLonger):
            services.create_api_key(caller=Caller(organization.pk, Role.ADMIN, actor), name="x", role=Role.ADMIN)
        if attempt == 0:
            admin.delete()
    assert not ApiKey.objects.exists()


def test_a_key_that_was_just_revoked_makes_no_other(organization):
    key, _ = services.create_api_key(caller=callers.system(organization.pk), name="x", role=Role.ADMIN)
    services.revoke_api_key(caller=callers.system(organization.pk), key=key)
    actor = audit.Actor("key", key.key_id, "x")
    with pytest.raises(lineage.MayNoLonger):
        services.create_api_key(caller=Caller(organization.pk, Role.ADMIN, actor), name="y", role=Role.ADMIN)
