"""Members: permissions to change or remove them, the end of their sessions, and the last owner."""

import pytest

from accounts.models import Member
from accounts.roles import MEMBER_ROLES, Role
from tests.people import add_person, events, sign_in

pytestmark = pytest.mark.django_db

OWNER = "owner@bank.example"


def change(api, member: Member, role: str):
    return api.client.patch(f"/v1/auth/members/{member.pk}", {"role": role}, content_type="application/json")


def remove(api, member: Member):
    return api.client.delete(f"/v1/auth/members/{member.pk}")


@pytest.fixture
def admin(organization, api_for):
    return api_for(organization, Role.ADMIN)


def test_members_are_listed_with_name_and_role_newest_first(organization, api, other_api):
    add_person(organization, Role.EDITOR)
    items = api.get("/v1/auth/members").json()["items"]
    assert [(item["email"], item["role"]) for item in items] == [
        ("editor@example-bank.example", "editor"),
        (OWNER, "owner"),
    ]
    assert set(items[0]) == {"member_id", "email", "name", "role", "created_at"}


def test_the_list_of_members_takes_the_same_statements_for_2_and_for_20(
    organization, api, django_assert_num_queries, django_assert_max_num_queries
):
    api.get("/v1/auth/members")
    with django_assert_max_num_queries(4) as few:
        api.get("/v1/auth/members")
    for number in range(20):
        add_person(organization, Role.EDITOR, f"{number}@bank.example")
    with django_assert_num_queries(len(few)):
        assert len(api.get("/v1/auth/members").json()["items"]) == 21


def test_a_role_changes_at_the_next_request_and_the_session_goes_on(organization, api):
    member = add_person(organization, Role.EDITOR)
    browser = sign_in(member.user.email)
    assert browser.get("/v1/auth/api-keys").status_code == 403
    answer = change(api, member, "admin")
    assert (answer.status_code, answer.json()["role"]) == (200, "admin")
    assert browser.get("/v1/auth/api-keys").status_code == 200
    assert [event.detail for event in events("member.role_changed")] == [{"before": "editor", "after": "admin"}]


@pytest.mark.parametrize("role", ["boss", "", None, 5])
def test_an_unknown_role_is_refused(organization, api, role):
    member = add_person(organization, Role.EDITOR)
    answer = change(api, member, role)
    assert (answer.status_code, answer.json()["detail"][0]["type"]) == (422, "literal_error")
    member.refresh_from_db()
    assert member.role == "editor"


def test_removing_a_member_ends_their_sessions_at_once(organization, api):
    member = add_person(organization, Role.EDITOR)
    browsers = [sign_in(member.user.email) for _ in range(2)]
    answer = remove(api, member)
    assert (answer.status_code, answer.json()["email"]) == (200, member.user.email)
    assert [browser.get("/v1/auth/me").status_code for browser in browsers] == [401, 401]
    assert [browser.get("/admin/").status_code for browser in browsers] == [302, 302]
    assert [event.detail for event in events("session.ended")] == [{"because": "membership ended"}] * 2
    assert [event.detail for event in events("member.removed")] == [{"before": "editor"}]


def test_a_removed_member_gets_no_access_and_may_be_invited_again(organization, api):
    member = add_person(organization, Role.EDITOR)
    remove(api, member)
    browser = sign_in(member.user.email)
    assert browser.get("/v1/auth/me").status_code == 401
    assert browser.get("/admin/").status_code == 302
    body = {"email": member.user.email, "role": "auditor"}
    assert api.client.post("/v1/auth/invites", body, content_type="application/json").status_code == 201


def test_a_removed_member_stays_a_member_elsewhere(organization, api, other_api):
    member = add_person(organization, Role.EDITOR)
    add_person(other_api.organization, Role.AUDITOR, member.user.email)
    remove(api, member)
    me = sign_in(member.user.email).get("/v1/auth/me").json()
    assert (me["organization"]["slug"], me["role"]) == ("other-bank", "auditor")


# ── owners ──


@pytest.mark.parametrize("act", [lambda api, m: change(api, m, "editor"), remove], ids=["role", "removal"])
def test_the_last_owner_stays(organization, api, act):
    answer = act(api, organization.members.get())
    assert answer.status_code == 409
    assert answer.json() == {"detail": "An organization keeps at least one owner. Make another member an owner first."}
    assert organization.members.get().role == "owner"


@pytest.mark.parametrize("act", [lambda api, m: change(api, m, "editor"), remove], ids=["role", "removal"])
def test_an_owner_may_be_removed_if_another_stays(organization, api, act):
    second = add_person(organization, Role.OWNER)
    assert act(api, second).status_code == 200
    assert organization.members.filter(role="owner").count() == 1


def test_another_organizations_owner_does_not_count_as_an_owner(organization, api, other_api):
    assert remove(api, organization.members.get()).status_code == 409


def test_an_admin_neither_makes_nor_changes_nor_removes_owners(organization, admin):
    owner, editor = organization.members.get(), add_person(organization, Role.EDITOR)
    add_person(organization, Role.OWNER, "second@bank.example")
    answers = [change(admin, owner, "editor"), change(admin, editor, "owner"), remove(admin, owner)]
    assert [answer.status_code for answer in answers] == [403] * 3
    assert answers[0].json() == {"detail": "Only an owner may make, change, invite or remove an owner."}
    assert sorted(Member.objects.values_list("role", flat=True)) == ["editor", "owner", "owner"]
    assert change(admin, editor, "auditor").status_code == 200
    assert remove(admin, editor).status_code == 200


@pytest.mark.parametrize("act", [lambda api, m: change(api, m, "editor"), remove], ids=["role", "removal"])
def test_another_organizations_member_does_not_exist(organization, api, other_api, act):
    theirs = other_api.organization.members.get()
    assert act(api, theirs).status_code == 404
    theirs.refresh_from_db()
    assert theirs.role == "owner"


def test_a_change_that_changes_nothing_writes_no_event(organization, api):
    member = add_person(organization, Role.EDITOR)
    assert change(api, member, "editor").status_code == 200
    assert events("member.role_changed") == []


# ── the organization ──


def test_everyone_sees_the_organization_and_no_key_changes_it(organization, api_for):
    for role in MEMBER_ROLES:
        api = api_for(organization, role)
        assert api.get("/v1/auth/organization").json() == {
            "id": str(organization.id), "slug": "example-bank", "name": "Example Bank", "second_factor_required": False,
            "loosenings": [],
        }  # fmt: skip
        body = b'{"second_factor_required": true}'
        answer = api.client.patch("/v1/auth/organization", body, content_type="application/json")
        assert answer.status_code == 403


@pytest.mark.parametrize("body", ["{}", '{"second_factor_required": null}', '{"second_factor_required": "yes"}'])
def test_the_setting_is_true_or_false(api, body):
    answer = api.client.patch("/v1/auth/organization", body, content_type="application/json")
    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["body", "second_factor_required"])


def test_setting_the_present_value_writes_no_event(api):
    body = b'{"second_factor_required": false}'
    assert api.client.patch("/v1/auth/organization", body, content_type="application/json").status_code == 200
    assert events("organization.second_factor") == []
