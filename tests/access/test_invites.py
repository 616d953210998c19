"""Invitations: permissions to invite, use and expiry of the link, and the answers."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts import callers, services
from accounts.models import Invite, Member
from accounts.roles import MEMBER_ROLES, Role
from accounts.services.members import RoleOutOfReach
from tests import people
from tests.people import Browser, accept, add_person, events, mailed_code, mailed_token, sign_in

pytestmark = pytest.mark.django_db

GUEST = "guest@else.example"
GARBAGE = [
    "", "-", "x", "1", "1-", "-x", "0-" + "0" * 64, "1-" + "0" * 64, "9" * 18 + "-x", "9" * 19 + "-x", "9" * 500 + "-x",
    "\u0661-x", "1-\u00e9", "1-" + "x" * 5000, "-1-x", "1.0-x", "%00-x", "1-%00", "' OR 1=1--", "../../admin",
]  # fmt: skip


def invite(api, email: str = GUEST, role: str = "editor"):
    return api.client.post("/v1/auth/invites", {"email": email, "role": role}, content_type="application/json")


def accept_by_api(token: str, email: str = GUEST) -> int:
    return people.accept_by_api(Browser(), token, email).status_code


def accept_by_page(token: str, email: str = GUEST) -> int:
    browser = Browser()
    page = browser.get(f"/invites/{token}/")
    return page.status_code if page.status_code != 200 else accept(browser, token, email).status_code


BOTH_WAYS = pytest.mark.parametrize(
    ("accept", "accepted", "gone"), [(accept_by_api, 200, 404), (accept_by_page, 302, 410)], ids=["api", "page"]
)


# ── inviting ──


@pytest.mark.parametrize("role", MEMBER_ROLES)
def test_an_owner_invites_with_any_role(api, role):
    answer = invite(api, role=role)
    assert answer.status_code == 201
    shown = answer.json()
    assert (shown["email"], shown["role"], shown["status"], shown["created_by"]) == (GUEST, role, "open", "key test")
    assert set(shown) == {"invite_id", "email", "role", "status", "created_by", "created_at", "expires_at"}


def test_an_admin_invites_everyone_but_an_owner(organization, api_for):
    admin = api_for(organization, Role.ADMIN)
    answers = {role: invite(admin, f"{role}@else.example", role).status_code for role in MEMBER_ROLES}
    assert answers == {role: 403 if role is Role.OWNER else 201 for role in MEMBER_ROLES}
    assert invite(admin, role="owner").json() == {"detail": RoleOutOfReach.sentence}
    assert not Invite.objects.filter(role=Role.OWNER).exists()


def test_an_admin_cannot_turn_the_open_invitation_of_an_owner_into_another(organization, api, api_for):
    invite(api, role="owner")
    invite(api_for(organization, Role.ADMIN), role="auditor")
    assert Invite.objects.get(revoked_at=None).role == "owner"


def test_an_admin_does_not_withdraw_the_invitation_of_an_owner(organization, api, api_for):
    made = invite(api, role="owner").json()
    admin = api_for(organization, Role.ADMIN)
    assert admin.client.delete(f"/v1/auth/invites/{made['invite_id']}").status_code == 403
    assert Invite.objects.get().revoked_at is None


@pytest.mark.parametrize("role", ["boss", "", "Owner", "owner ", "superuser", "sender"])
def test_a_role_that_people_cannot_have_is_refused_with_the_allowed_ones(api, role):
    answer = invite(api, role=role)
    (problem,) = answer.json()["detail"]
    assert (answer.status_code, problem["type"], problem["loc"]) == (422, "literal_error", ["body", "role"])
    assert problem["ctx"] == {"expected": "'owner', 'admin', 'approver', 'editor' or 'auditor'"}


@pytest.mark.parametrize(
    "email", ["", "guest", "guest@", "@b.example", "a b@c.example", "a@b@c.example", "a@b\n.example"]
)
def test_an_invalid_address_is_refused_and_not_repeated(api, email):
    answer = invite(api, email=email)
    (problem,) = answer.json()["detail"]
    assert (answer.status_code, problem["type"], problem["loc"]) == (422, "value_error", ["body", "email"])
    assert "input" not in problem
    assert problem["msg"] == "Value error, not an email address"


@pytest.mark.parametrize("length", [255, 300, 400])
def test_an_address_longer_than_any_is_refused(api, length):
    """RFC 5321 limits an address to 254 characters."""
    email = ("x" * 60 + "@" + ("y" * 60 + ".") * 6)[: length - 8].rstrip(".") + ".example"
    assert invite(api, email=email).status_code == 422
    assert not Invite.objects.exists()


@pytest.mark.parametrize("body", [{}, {"email": GUEST}, {"role": "editor"}, {"email": None, "role": None}])
def test_both_fields_are_required(api, body):
    assert api.client.post("/v1/auth/invites", body, content_type="application/json").status_code == 422


@pytest.mark.parametrize("email", ["owner@bank.example", "OWNER@bank.example"])
def test_a_member_is_not_invited_again(api, email):
    answer = invite(api, email=email)
    assert answer.status_code == 409
    assert answer.json() == {"detail": "This address belongs to a member of your organization already."}


def test_a_second_invitation_voids_the_first_link(api):
    first = invite(api).json()
    old = mailed_token(GUEST)
    second = invite(api, email=GUEST.upper(), role="auditor").json()
    new = mailed_token(GUEST)
    shown = {item["invite_id"]: item["status"] for item in api.get("/v1/auth/invites").json()["items"]}
    assert shown == {first["invite_id"]: "revoked", second["invite_id"]: "open"}
    assert [accept_by_api(token) for token in (old, new)] == [404, 200]
    assert Member.objects.get(user__email=GUEST).role == "auditor"
    assert [event.detail["replaced"] for event in events("invite.created")] == [False, True]


# ── accepting ──


@pytest.mark.parametrize("way", ["page", "api"])
def test_accepting_makes_a_member_and_signs_them_in(organization, api, way):
    invite(api, role="approver")
    token, browser = mailed_token(GUEST), Browser()
    if way == "page":
        page = browser.get(f"/invites/{token}/").content.decode()
        assert all(text in page for text in (organization.name, GUEST, "approver"))
        assert accept(browser, token, GUEST)["Location"] == "/admin/"
    else:
        asked = browser.call("POST", "/v1/auth/invites/accept", {"token": token})
        assert asked.json() == {"status": "code_required"}
        answer = browser.call("POST", "/v1/auth/otp/verify", {"email": GUEST, "code": mailed_code(GUEST)})
        assert answer.json() == {"status": "signed_in"}
    me = browser.get("/v1/auth/me").json()
    assert (me["label"], me["role"], me["organization"]["slug"]) == (GUEST, "approver", organization.slug)
    verbs = ("member.added", "invite.accepted", "sign_in.succeeded")
    assert [events(verb)[-1].actor_label for verb in verbs] == [GUEST] * 3


def test_opening_the_link_alone_changes_nothing(api):
    """Mail scanners open links."""
    invite(api)
    token = mailed_token(GUEST)
    for _ in range(3):
        assert Browser().get(f"/invites/{token}/").status_code == 200
    assert not Member.objects.filter(user__email=GUEST).exists()
    assert accept_by_page(token) == 302


@BOTH_WAYS
def test_a_link_works_once(api, accept, accepted, gone):
    invite(api)
    token = mailed_token(GUEST)
    assert [accept(token) for _ in range(3)] == [accepted, gone, gone]
    assert len(events("invite.accepted")) == 1


@BOTH_WAYS
def test_a_link_expires_after_seven_days(api, accept, accepted, gone):
    expires = timezone.now() + timedelta(days=7)
    invite(api)
    token = mailed_token(GUEST)
    with time_machine.travel(expires + timedelta(seconds=10), tick=False):
        assert accept(token) == gone
    with time_machine.travel(expires - timedelta(seconds=10), tick=False):
        assert accept(token) == accepted


@BOTH_WAYS
def test_a_revoked_link_is_void(api, accept, accepted, gone):
    made = invite(api).json()
    token = mailed_token(GUEST)
    answer = api.client.delete(f"/v1/auth/invites/{made['invite_id']}")
    assert (answer.status_code, answer.json()["status"]) == (200, "revoked")
    assert accept(token) == gone
    assert len(events("invite.revoked")) == 1
    assert api.client.delete(f"/v1/auth/invites/{made['invite_id']}").status_code == 200
    assert len(events("invite.revoked")) == 1, "revoking again changes nothing"


def test_an_accepted_invitation_is_not_revoked_any_more(api):
    made = invite(api).json()
    accept_by_api(mailed_token(GUEST))
    answer = api.client.delete(f"/v1/auth/invites/{made['invite_id']}")
    assert (answer.status_code, answer.json()["status"]) == (200, "accepted")
    assert events("invite.revoked") == []


def test_a_made_up_token_opens_nothing(api, subtests):
    invite(api)
    mailed_token(GUEST)
    for token in GARBAGE:
        with subtests.test(token=token):
            assert accept_by_api(token) == 404
            assert Browser().get(f"/invites/{token}/").status_code in (404, 410)


def test_the_secret_of_one_invitation_does_not_open_another(api):
    for email in (GUEST, "second@else.example"):
        invite(api, email=email)
    first, second = mailed_token(GUEST).split("-"), mailed_token("second@else.example").split("-")
    assert accept_by_api(f"{first[0]}-{second[1]}") == 404
    assert accept_by_api("-".join(first), GUEST) == 200


def test_an_invitation_that_was_not_mailed_yet_cannot_be_accepted(api):
    made = invite(api).json()
    for secret in ("", "0" * 64):
        assert accept_by_api(f"{made['invite_id']}-{secret}") == 404


@pytest.mark.parametrize("body", [{}, {"token": None}, {"token": 5}])
def test_accepting_without_a_token_is_refused_and_nothing_is_repeated(organization, body):
    answer = Browser().call("POST", "/v1/auth/invites/accept", body)
    assert answer.status_code == 422
    assert "input" not in answer.json()["detail"][0]


def test_a_person_who_became_a_member_meanwhile_keeps_their_role(organization, api):
    invite(api, role="auditor")
    token = mailed_token(GUEST)
    add_person(organization, Role.EDITOR, GUEST)
    assert accept_by_api(token) == 200
    assert Member.objects.get(user__email=GUEST).role == "editor"


def test_accepting_signs_another_person_in_the_browser_out_first(organization, api):
    browser = sign_in("owner@bank.example")
    invite(api, role="auditor")
    token = mailed_token(GUEST)
    assert "You are signed in as" in browser.get(f"/invites/{token}/").content.decode()
    accept(browser, token, GUEST)
    assert browser.get("/v1/auth/me").json()["label"] == GUEST


@pytest.mark.parametrize("way", ["page", "api"])
def test_a_code_alone_is_not_enough_where_a_second_factor_is_asked(organization, api, way):
    services.require_second_factor(caller=callers.system(organization.pk), required=True)
    invite(api, role="approver")
    token, browser = mailed_token(GUEST), Browser()
    if way == "page":
        assert accept(browser, token, GUEST)["Location"] == "/sign-in/app/"
    else:
        answer = people.accept_by_api(browser, token, GUEST)
        assert answer.json() == {"status": "second_factor_required"}
    assert not browser.is_signed_in
    assert Member.objects.get(user__email=GUEST).role == "approver"


# ── two organizations ──


def test_a_person_invited_to_two_organizations_becomes_a_member_of_both(organization, api, other_api):
    tokens = []
    for host, role in ((api, "editor"), (other_api, "auditor")):
        invite(host, role=role)
        tokens.append(mailed_token(GUEST))
    assert [accept_by_api(token) for token in tokens] == [200, 200]
    members = Member.objects.filter(user__email=GUEST)
    assert {(member.organization.slug, member.role) for member in members} == {
        ("example-bank", "editor"),
        ("other-bank", "auditor"),
    }
    assert len({member.user_id for member in members}) == 1


@pytest.mark.parametrize("way", ["page", "api"])
def test_accepting_a_second_invitation_switches_to_that_organization(organization, other_api, way):
    add_person(organization, Role.EDITOR, GUEST)
    invite(other_api, role="auditor")
    token, browser = mailed_token(GUEST), Browser()
    (accept if way == "page" else people.accept_by_api)(browser, token, GUEST)
    me = browser.get("/v1/auth/me").json()
    assert (me["organization"]["slug"], me["role"]) == (other_api.organization.slug, "auditor")


def test_replacing_an_invitation_leaves_those_of_other_organizations(api, other_api):
    invite(other_api)
    theirs = mailed_token(GUEST)
    invite(api)
    invite(api)
    mailed_token(GUEST)
    assert accept_by_api(theirs) == 200


# ── the list ──


def test_the_list_of_invitations_has_pages_and_states(api):
    statuses = {"accepted": "a", "revoked": "b", "expired": "c", "open": "d"}
    made = {status: invite(api, f"{name}@else.example").json()["invite_id"] for status, name in statuses.items()}
    accept_by_api(mailed_token("a@else.example"), "a@else.example")
    api.client.delete(f"/v1/auth/invites/{made['revoked']}")
    Invite.objects.filter(pk=made["expired"]).update(expires_at=timezone.now())
    first = api.get("/v1/auth/invites", limit=3).json()
    second = api.get("/v1/auth/invites", limit=3, cursor=first["next_cursor"]).json()
    items = first["items"] + second["items"]
    assert [item["status"] for item in items] == list(reversed(statuses))
    assert second["next_cursor"] is None
    assert not [item for item in items if "digest" in item or "token" in item]


def test_another_organizations_invitation_does_not_exist(api, other_api):
    made = invite(other_api).json()
    assert api.client.delete(f"/v1/auth/invites/{made['invite_id']}").status_code == 404
    assert api.get("/v1/auth/invites").json()["items"] == []
    assert other_api.get("/v1/auth/invites").json()["items"][0]["status"] == "open"
