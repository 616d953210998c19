"""One organization at a time: a member's own, or the one that whoever runs the platform has picked, only to look at."""

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


def test_without_a_pick_lists_are_empty_and_say_so(runner, subtests):
    for path in LISTS:
        with subtests.test(path=path):
            answer = runner.get(f"/admin/{path}/")
            assert answer.status_code == 200
            assert answer.context["cl"].result_count == 0
            assert "Pick an organization" in answer.content.decode()


def test_who_runs_the_platform_sees_what_they_picked_and_nothing_else(runner, organization, other_api):
    pick(runner, other_api.organization)
    shown = runner.get("/admin/decisions/decision/").content.decode()
    assert CANARY in shown
    assert ">own<" not in shown
    pick(runner, organization)
    assert CANARY not in runner.get("/admin/decisions/decision/").content.decode()


def test_what_is_no_organization_cannot_be_picked(runner, subtests):
    for picked in (uuid.uuid4(), "", "x", "\x00"):
        with subtests.test(picked=picked):
            answer = runner.submit("/admin/", "/account/organization/", organization=str(picked))
            assert answer.status_code == 404


def test_nobody_picks_an_organization_that_is_not_theirs(signed_in, organization, other_api):
    add_person(organization, Role.OWNER, "both@bank.example")
    browser = signed_in(Role.OWNER)
    token = browser.csrf_token("/account/sessions/")
    fields = {"organization": str(other_api.organization.pk), "csrfmiddlewaretoken": token}
    assert browser.post("/account/organization/", fields).status_code == 404
    assert CANARY not in browser.get("/admin/decisions/decision/").content.decode()


def test_a_member_of_two_organizations_switches_in_the_header_and_acts_with_the_role_held_there(api, other_api):
    person = add_person(api.organization, Role.OWNER, "both@bank.example")
    add_person(other_api.organization, Role.AUDITOR, "both@bank.example")
    browser = sign_in(person.user.email)
    assert browser.get("/admin/accounts/member/").status_code == 200
    pick(browser, other_api.organization)
    assert CANARY in browser.get("/admin/decisions/decision/").content.decode()
    assert browser.get("/admin/accounts/member/").status_code == 403


def test_a_member_of_one_organization_is_not_asked(signed_in, organization):
    shown = signed_in(Role.EDITOR).get("/admin/").content.decode()
    assert "/account/organization/" not in shown
    assert organization.name in shown


def test_picking_takes_a_form_with_the_token(runner, organization):
    assert runner.get("/account/organization/").status_code == 405
    assert runner.post("/account/organization/", {"organization": str(organization.pk)}).status_code == 403
    assert runner.get("/admin/decisions/decision/").context["cl"].result_count == 0


def test_whoever_runs_the_platform_only_looks(runner, api):
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


def test_a_membership_counts_for_its_own_organization_alone_also_for_who_runs_the_platform(runner, api, other_api):
    add_person(api.organization, Role.OWNER, "runner@platform.example")
    pick(runner, other_api.organization)
    token = runner.csrf_token("/admin/")
    fields = {"name": "x", "csrfmiddlewaretoken": token}
    assert runner.post("/admin/accounts/apikey/create/", fields).status_code == 403
    pick(runner, api.organization)
    assert create_key(runner, "x").status_code == 200
