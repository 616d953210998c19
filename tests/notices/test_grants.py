"""Authority grants: who may approve what, with which authority, from when until when."""

from datetime import date

import pytest
import time_machine

from accounts import callers, selectors
from accounts.models import AuditEvent, Member
from accounts.roles import Role
from accounts.services import create_api_key
from accounts.services.members import change_role
from notices import services as notices
from notices.errors import NotGranted
from notices.models import AuthorityGrant
from tests.conftest import Api
from tests.notices.conftest import acting, approve, done, guard, key_of, refused, send, shown, step, stored
from tests.people import Browser, accept, mailed_token

pytestmark = pytest.mark.django_db

HOLDER = "holder@bank.example"
GRANT = {"email": HOLDER, "authority": "Credit Officer", "valid_from": "2020-01-01"}


@pytest.fixture
def holder(organization):
    return acting(organization, Role.APPROVER, HOLDER)


@pytest.fixture
def grants_alone(api):
    """Allow approvals only by members who hold a grant."""
    guard(api.organization, require_grants=True)


def grant(api, **changes) -> dict:
    return done(send(api, "POST", "authority-grants", GRANT | changes))


def approval_of(api, notice, caller, authority=""):
    row = stored(api, notice)
    return notices.approve(notice=row, caller=caller, authority=authority)


# ── granting and revoking ──


def test_a_grant_is_listed_until_and_after_it_is_revoked(api, holder):
    made = grant(api, packs=["general"], valid_to="2030-12-31", evidence="Board minutes of 3 May")
    assert (made["email"], made["packs"], made["valid_to"]) == (HOLDER, ["general"], "2030-12-31")
    assert api.get("/v1/authority-grants").json()["items"] == [made]
    revoked = done(send(api, "DELETE", f"authority-grants/{made['grant_id']}"))
    assert revoked["revoked_at"]
    assert done(send(api, "DELETE", f"authority-grants/{made['grant_id']}")) == revoked
    assert api.get("/v1/authority-grants").json()["items"] == [revoked]


def test_granting_and_revoking_are_in_the_audit_trail_once_without_the_evidence(api, holder):
    made = grant(api, evidence="Board minutes of 3 May")
    for _ in range(2):
        send(api, "DELETE", f"authority-grants/{made['grant_id']}")
    events = AuditEvent.objects.filter(object_kind="authority_grant").order_by("pk")
    assert [event.verb for event in events] == ["authority.granted", "authority.revoked"]
    assert "minutes" not in str(list(events.values()))


@pytest.mark.parametrize("spelled", [HOLDER.upper(), f" {HOLDER} "])
def test_a_member_is_found_by_their_address_in_any_spelling(api, holder, spelled):
    assert grant(api, email=spelled)["email"] == HOLDER


def test_a_member_cannot_grant_to_themselves(api, signed_in):
    owner = signed_in(Role.OWNER, "first@bank.example")
    assert "to yourself" in refused(send(owner, "POST", "authority-grants", GRANT | {"email": "first@bank.example"}))
    assert not AuthorityGrant.objects.exists()
    done(send(owner, "POST", "authority-grants", GRANT | {"email": "owner@bank.example"}))


def test_a_grant_does_not_end_before_it_begins(api, holder):
    body = GRANT | {"valid_to": "2019-12-31"}
    assert "before it begins" in refused(send(api, "POST", "authority-grants", body))
    grant(api, valid_to="2020-01-01")


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"email": "unknown@bank.example"}, ["email"]),
        ({"email": "owner@other.example"}, ["email"]),
        ({"packs": ["general", "nowhere"]}, ["packs", 1]),
        ({"valid_from": None}, ["valid_from"]),
        ({"valid_from": "yesterday"}, ["valid_from"]),
        ({"valid_from": 0}, ["valid_from"]),
        ({"valid_to": "2026-02-30"}, ["valid_to"]),
        ({"authority": ""}, ["authority"]),
    ],
)
def test_an_invalid_grant_is_refused(api, other_api, holder, changes, where):
    answer = send(api, "POST", "authority-grants", GRANT | changes)
    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["body", *where])


# ── validity of a grant ──


def test_the_approval_names_the_grant_it_was_made_with_and_keeps_it_when_it_is_revoked(api, notice, signed_in):
    browser = signed_in(Role.APPROVER, HOLDER)
    made = grant(api)
    approval = done(step(browser, notice, "approve"))["approval"]
    assert (approval["verified"], approval["grant_id"]) == (True, made["grant_id"])
    assert (approval["authority"], approval["approver"]) == ("Credit Officer", HOLDER)
    send(api, "DELETE", f"authority-grants/{made['grant_id']}")
    assert shown(api, notice)["approval"] == approval


@pytest.mark.parametrize("claimed", ["credit officer", "  CREDIT OFFICER "])
def test_an_authority_matches_in_any_spelling(api, notice, holder, claimed):
    grant(api)
    assert approval_of(api, notice, holder, claimed).grant is not None


def test_another_authority_than_the_granted_one_is_unverified(api, notice, holder):
    grant(api)
    made = approval_of(api, notice, holder, "medical director")
    assert (made.authority, made.grant) == ("medical director", None)


def test_of_several_grants_the_one_that_fits_is_used(api, notice, holder):
    for changes in ({"authority": "medical director"}, {"packs": ["us_ecoa_fcra"]}, {"valid_to": "2020-12-31"}):
        grant(api, **changes)
    fitting = grant(api)
    assert str(approval_of(api, notice, holder, "credit officer").grant.pk) == fitting["grant_id"]


@pytest.mark.parametrize(("packs", "counts"), [([], True), (["gdpr_22", "general"], True), (["us_ecoa_fcra"], False)])
def test_a_grant_covers_the_packs_it_names_or_all(api, notice, holder, packs, counts):
    grant(api, packs=packs)
    assert (approval_of(api, notice, holder).grant is not None) == counts


@pytest.mark.parametrize(
    ("moment", "counts"),
    [
        ("2029-12-31T23:59:59Z", False),
        ("2030-01-01T00:00:00Z", True),
        ("2030-06-30T23:59:59Z", True),
        ("2030-07-01T00:00:00Z", False),
    ],
)
def test_a_grant_counts_from_its_first_day_to_its_last(api, notice, holder, moment, counts):
    grant(api, valid_from="2030-01-01", valid_to="2030-06-30")
    with time_machine.travel(moment, tick=False):
        assert (approval_of(api, notice, holder).grant is not None) == counts


def test_a_revoked_grant_counts_no_longer(api, notice, holder):
    made = grant(api)
    send(api, "DELETE", f"authority-grants/{made['grant_id']}")
    assert approval_of(api, notice, holder).grant is None


def test_the_grant_of_one_member_is_of_no_use_to_another(api, notice, holder, organization):
    grant(api)
    other = acting(organization, Role.OWNER, "other@bank.example")
    assert approval_of(api, notice, other, "Credit Officer").grant is None


def test_a_grant_of_one_organization_is_of_no_use_in_another(api, other_api, notice, holder):
    elsewhere = acting(other_api.organization, Role.OWNER, HOLDER)
    member = Member.objects.get(pk=elsewhere.member_id)
    granting = acting(other_api.organization, Role.OWNER, "second@other.example")
    notices.grant_authority(member=member, authority="any", valid_from=date(2020, 1, 1), caller=granting)
    assert approval_of(api, notice, holder).grant is None


# ── required grants ──


def test_where_grants_are_required_no_key_can_approve(api, notice, grants_alone):
    assert "signed-in member" in refused(approve(api, notice))


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.APPROVER])
def test_where_grants_are_required_no_member_approves_without_one(api, notice, grants_alone, organization, role):
    caller = acting(organization, role, HOLDER)
    with pytest.raises(NotGranted, match="no authority grant"):
        approval_of(api, notice, caller)
    grant(api, packs=["us_ecoa_fcra"])
    with pytest.raises(NotGranted, match="valid today for Own policy"):
        approval_of(api, notice, caller)


def test_where_grants_are_required_a_holder_approves(api, notice, grants_alone, holder):
    grant(api)
    with pytest.raises(NotGranted, match="medical director"):
        approval_of(api, notice, holder, "medical director")
    assert approval_of(api, notice, holder).authority == "Credit Officer"


def test_a_grant_gives_no_permission_that_the_role_does_not(api, notice, signed_in):
    editor = signed_in(Role.EDITOR, HOLDER)
    grant(api)
    assert step(editor, notice, "approve").status_code == 403


def test_a_member_cannot_grant_to_themselves_by_their_key(api_for, organization, signed_in):
    owner = signed_in(Role.OWNER, "owner-2@bank.example")
    token = done(send(owner, "POST", "auth/api-keys", {"name": "mine"}))["api_key"]
    by_own_key = Api(organization, token)
    mine, others = GRANT | {"email": "owner-2@bank.example"}, GRANT | {"email": "owner@bank.example"}
    assert "to yourself" in refused(send(by_own_key, "POST", "authority-grants", mine))
    assert done(send(by_own_key, "POST", "authority-grants", others))


def invited_by(maker) -> dict:
    """Return the grant for a guest whom this key or session has invited."""
    done(send(maker, "POST", "auth/invites", {"email": "guest@else.example", "role": "owner"}))
    accept(Browser(), mailed_token("guest@else.example"), "guest@else.example")
    return GRANT | {"email": "guest@else.example"}


@pytest.mark.parametrize("by_person", [False, True])
@pytest.mark.parametrize("promoted", [False, True])
def test_a_key_grants_no_authority_to_a_member_whom_its_lineage_invited(api, signed_in, by_person, promoted):
    owner = signed_in(Role.OWNER, "first@bank.example")
    first = key_of(owner, api) if by_person else api
    keys = [first, key_of(first, api), key_of(first, api)]
    wanted = invited_by(keys[1])
    if promoted:  # a changed role does not hide the inviter
        guest = Member.objects.get(user__email=wanted["email"])
        change_role(caller=selectors.caller(guest), member=guest, role=Role.ADMIN)
    for key in keys:
        assert "A key grants no authority" in refused(send(key, "POST", "authority-grants", wanted))
    assert not AuthorityGrant.objects.exists()
    token = create_api_key(caller=callers.system(api.organization.pk), name="other", role=Role.OWNER)[1]
    for other in (owner, Api(api.organization, token)):
        done(send(other, "POST", "authority-grants", wanted))


def test_a_member_who_left_and_rejoined_does_not_get_old_grants_back(api, notice, holder, grants_alone):
    grant(api)
    Member.objects.filter(pk=holder.member_id).delete()
    back = acting(api.organization, Role.APPROVER, HOLDER)
    with pytest.raises(NotGranted, match="no authority grant"):
        approval_of(api, notice, back)
