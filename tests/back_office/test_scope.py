"""Scope of a session: a member's organization, or, read-only, an organization picked by a platform administrator."""

import uuid

import pytest

from accounts.models import AuditEvent
from accounts.roles import Role
from tests.back_office.conftest import pick
from tests.back_office.test_people import create_key
from tests.people import add_person, sign_in

pytestmark = pytest.mark.django_db
LISTS = [
    "accounts/member", "accounts/invite", "accounts/apikey", "accounts/auditevent", "custody/entry", "custody/key",
    "decisions/decision", "decisions/reconsideration",
]  # fmt: skip
CANARY = "canary-91d2"


@pytest.fixture(autouse=True)
def _records(api, other_api):
    api.ingest({"decision_id": "own"})
    other_api.ingest({"decision_id": CANARY})


def test_lists_are_empty_until_an_organization_is_picked(runner, subtests):
    for path in LISTS:
        with subtests.test(path=path):
            answer = runner.get(f"/admin/{path}/")
            assert answer.status_code == 200
            assert answer.context["cl"].result_count == 0
            assert "Pick an organization" in answer.content.decode()


def test_a_platform_administrator_sees_only_the_picked_organization(runner, organization, other_api):
    pick(runner, other_api.organization)
    shown = runner.get("/admin/decisions/decision/").content.decode()
    assert CANARY in shown
    assert ">own<" not in shown
    pick(runner, organization)
    assert CANARY not in runner.get("/admin/decisions/decision/").content.decode()


def test_an_unknown_organization_cannot_be_picked(runner, subtests):
    for picked in (uuid.uuid4(), "", "x", "\x00"):
        with subtests.test(picked=picked):
            answer = runner.submit("/admin/", "/account/organization/", organization=str(picked))
            assert answer.status_code == 404


def test_a_member_cannot_pick_another_organization(signed_in, organization, other_api):
    add_person(organization, Role.OWNER, "both@bank.example")
    browser = signed_in(Role.OWNER)
    token = browser.csrf_token("/account/sessions/")
    fields = {"organization": str(other_api.organization.pk), "csrfmiddlewaretoken": token}
    assert browser.post("/account/organization/", fields).status_code == 404
    assert CANARY not in browser.get("/admin/decisions/decision/").content.decode()


def test_a_member_of_two_organizations_has_the_role_of_the_picked_one(api, other_api):
    person = add_person(api.organization, Role.OWNER, "both@bank.example")
    add_person(other_api.organization, Role.AUDITOR, "both@bank.example")
    browser = sign_in(person.user.email)
    assert browser.get("/admin/accounts/member/").status_code == 200
    pick(browser, other_api.organization)
    assert CANARY in browser.get("/admin/decisions/decision/").content.decode()
    assert browser.get("/admin/accounts/member/").status_code == 403


def test_a_member_of_one_organization_need_not_pick_it(signed_in, organization):
    shown = signed_in(Role.EDITOR).get("/admin/").content.decode()
    assert "/account/organization/" not in shown
    assert organization.name in shown


def test_picking_requires_a_csrf_token(runner, organization):
    assert runner.get("/account/organization/").status_code == 405
    assert runner.post("/account/organization/", {"organization": str(organization.pk)}).status_code == 403
    assert runner.get("/admin/decisions/decision/").context["cl"].result_count == 0


def test_a_platform_administrator_cannot_act(runner, api):
    pick(runner, api.organization)
    member = api.organization.members.get()
    key = api.organization.api_keys.first()
    events = AuditEvent.objects.count()
    token = runner.csrf_token("/admin/")
    for path, fields in [
        (f"accounts/member/{member.pk}/role", {"role": "auditor"}),
        (f"accounts/member/{member.pk}/remove", {}),
        ("accounts/invite/invite", {"email": "x@bank.example", "role": "owner"}),
        ("accounts/apikey/create", {"name": "x"}),
        (f"accounts/apikey/{key.pk}/revoke", {}),
    ]:
        answer = runner.post(f"/admin/{path}/", {**fields, "csrfmiddlewaretoken": token})
        assert answer.status_code == 403, path
    assert AuditEvent.objects.count() == events
    shown = runner.get(f"/admin/accounts/member/{member.pk}/change/").content.decode()
    assert shown.count(" disabled aria-describedby=") == 2
    assert "members act." in shown


def test_a_platform_administrators_membership_counts_only_in_its_organization(runner, api, other_api):
    add_person(api.organization, Role.OWNER, "runner@platform.example")
    pick(runner, other_api.organization)
    token = runner.csrf_token("/admin/")
    fields = {"name": "x", "csrfmiddlewaretoken": token}
    assert runner.post("/admin/accounts/apikey/create/", fields).status_code == 403
    pick(runner, api.organization)
    assert create_key(runner, "x").status_code == 200
