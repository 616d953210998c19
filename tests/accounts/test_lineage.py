"""A credential makes nothing with more permissions, a later expiry or a longer life than it has."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest
import time_machine
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts import callers, selectors, services
from accounts.audit import Actor
from accounts.callers import Caller
from accounts.models import ApiKey, Invite, Member
from accounts.roles import MATRIX, MEMBER_ROLES, Permission, Role
from accounts.services import invites, lineage, members
from config.errors import NotAllowed
from tests.conftest import Api
from tests.people import Browser, accept, add_person, dumped, events, mailed_token, signed_in
from tests.support.undone import undone

pytestmark = pytest.mark.django_db

GUEST = "guest@else.example"


def key_of(caller: Caller, role: Role, **options) -> tuple[Caller, ApiKey, str]:
    """Return a new key as a caller, with its row and token."""
    key, token = services.create_api_key(caller=caller, name=f"{role} key", role=role, **options)
    return Caller(key.organization_id, role, Actor("key", key.key_id, key.name)), key, token


@pytest.fixture
def system(organization) -> Caller:
    return callers.system(organization.pk)


@contextmanager
def refused_or_not() -> Iterator[None]:
    try:
        yield
    except NotAllowed:
        return


# ── no more than its maker may ──


def makings(organization) -> dict[str, Callable[[Caller, Role], Role]]:
    """Yield every service that gives a role to a key or a person. Each returns the role it gave."""

    def reached(caller: Caller, role: Role) -> Role:
        member = Member.objects.get(user__email="editor@bank.example")
        return Role(members.change_role(caller=caller, member=member, role=role)[0].role)

    def joined(caller: Caller, role: Role) -> Role:
        return Role(services.add_member(caller=caller, email=GUEST, role=role).role)

    return {
        "key": lambda caller, role: Role(services.create_api_key(caller=caller, name="x", role=role)[0].role),
        "invitation": lambda caller, role: Role(invites.invite(caller=caller, email=GUEST, role=role).role),
        "membership": joined,
        "role": reached,
    }


@pytest.mark.parametrize("permission", list(Permission))
def test_no_credential_gives_a_permission_it_lacks(organization, system, permission):
    """Through the services, by a key and by a person of every role that lacks the permission."""
    add_person(organization, Role.EDITOR, "editor@bank.example")
    for role in set(Role) - MATRIX[permission]:
        makers = [key_of(system, role)[0]]
        if role in MEMBER_ROLES:
            person = add_person(organization, role, f"maker-{role}@bank.example")
            makers.append(Caller(organization.pk, role, Actor("member", str(person.user_id), person.user.email)))
        for maker in makers:
            for making, give in makings(organization).items():
                for given in Role if making == "key" else MEMBER_ROLES:
                    with undone(), refused_or_not():
                        assert give(maker, given) not in MATRIX[permission], (role, making, given)


def test_nothing_made_through_the_api_has_more_permissions_than_its_maker(organization, system):
    member = add_person(organization, Role.AUDITOR, "auditor@bank.example")
    for role in Role:
        maker = Api(organization, key_of(system, role)[2])
        for given in Role:
            may = {p for p in Permission if given in MATRIX[p]} <= {p for p in Permission if role in MATRIX[p]}
            for path, body, manages in (
                ("POST /v1/auth/api-keys", {"name": "x", "role": given}, Permission.MANAGE_KEYS),
                ("POST /v1/auth/invites", {"email": GUEST, "role": given}, Permission.MANAGE_MEMBERS),
                (f"PATCH /v1/auth/members/{member.pk}", {"role": given}, Permission.MANAGE_MEMBERS),
            ):
                if given is Role.SENDER and manages is Permission.MANAGE_MEMBERS:
                    continue
                method, address = path.split()
                with undone():
                    sent = maker.client.generic(method, address, dumped(body), content_type="application/json")
                assert (sent.status_code in (200, 201)) == (may and role in MATRIX[manages]), (role, path, given)


def test_keys_share_the_root_of_their_lineage_and_a_circle_of_keys_ends(organization, system):
    person = add_person(organization, Role.OWNER, "first@bank.example")
    for maker, root in ((system, None), (selectors.caller(person), "first@bank.example")):
        line = [key_of(maker, Role.OWNER)]
        for _ in range(3):
            line.append(key_of(line[-1][0], Role.OWNER))
        actors = [caller.actor for caller, _, _ in line]
        assert set(selectors.roots_of(actors).values()) == {root or line[0][1].key_id}
        assert selectors.root_of(actors[-1]) == (root or line[0][1].key_id)
    first, last = line[0][1], line[-1][1]
    ApiKey.objects.for_organization(organization).filter(pk=first.pk).update(making_key=last)
    assert set(selectors.roots_of(actors).values()) == {root}
    ApiKey.objects.for_organization(organization).update(maker="")
    assert set(selectors.roots_of(actors).values()) == {first.key_id}


def test_role_and_expiry_default_to_the_makers(organization, system):
    until = timezone.now() + timedelta(days=1)
    _, maker, token = key_of(system, Role.ADMIN, expires_at=until)
    made = Api(organization, token).post("/v1/auth/api-keys", b'{"name": "x"}')
    assert (made.status_code, made.json()["role"], made.json()["made_by_key"]) == (201, "admin", maker.key_id)
    assert datetime.fromisoformat(made.json()["expires_at"]) == until
    free = Api(organization, key_of(system, Role.ADMIN)[2]).post("/v1/auth/api-keys", b'{"name": "x"}')
    assert (free.status_code, free.json()["expires_at"]) == (201, None)


def test_a_key_makes_nothing_that_expires_later(organization, system):
    until = timezone.now() + timedelta(days=1)
    maker = Api(organization, key_of(system, Role.ADMIN, expires_at=until)[2])
    longer, shorter = (
        dumped({"name": "x", "expires_at": (until + timedelta(seconds=by)).isoformat()}) for by in (1, -1)
    )
    refused = maker.post("/v1/auth/api-keys", longer)
    assert refused.status_code == 403
    assert f"{until:%Y-%m-%dT%H:%M:%S}" in refused.json()["detail"], "it names the bound"
    child = Api(organization, maker.post("/v1/auth/api-keys", shorter).json()["api_key"])
    maker.post("/v1/auth/invites", dumped({"email": GUEST, "role": "editor"}))
    token = mailed_token(GUEST)
    with time_machine.travel(until, tick=False):
        assert child.get("/v1/decisions").status_code == 401
        assert Browser().get(f"/invites/{token}/").status_code == 410


def test_an_expiry_in_the_past_is_refused(api):
    body = dumped({"name": "x", "expires_at": (timezone.now() - timedelta(seconds=1)).isoformat()})
    answer = api.post("/v1/auth/api-keys", body)
    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["body", "expires_at"])


def test_the_database_refuses_a_key_that_outlives_its_maker_or_crosses_organizations(system, other_api):
    until = timezone.now() + timedelta(days=1)
    _, maker, _ = key_of(system, Role.ADMIN, expires_at=until)
    key = {"organization_id": maker.organization_id, "role": "editor", "digest": "x", "created_by": "x"}
    offer = {"organization_id": maker.organization_id, "role": "editor", "created_by": "x", "email": GUEST}
    elsewhere = {"organization_id": other_api.organization.pk}
    rows = {ApiKey: key, Invite: offer}
    for number, (model, row) in enumerate(rows.items()):
        own = {"key_id": str(number)} if model is ApiKey else {}
        made = model.objects.create(**row, **own, making_key=maker, expires_at=until)
        later, never = until + timedelta(microseconds=1), None
        for change in ({"expires_at": later}, elsewhere, *([{"expires_at": never}] if model is ApiKey else [])):
            with pytest.raises(IntegrityError), transaction.atomic():
                model.objects.for_organization(maker.organization_id).filter(pk=made.pk).update(**change)
    with pytest.raises(IntegrityError), transaction.atomic():
        ApiKey.objects.create(**key, key_id="y", making_key=maker)


# ── no longer than its maker works ──


@pytest.fixture
def line(organization, api) -> list[dict]:
    """Three keys, each made by the previous one. The last one invited two people (one joined) and promoted one."""
    made = []
    maker = api
    for number in range(3):
        made.append(maker.post("/v1/auth/api-keys", dumped({"name": f"generation {number}", "role": "admin"})).json())
        maker = Api(organization, made[-1]["api_key"])
    for email in ("joined@else.example", GUEST):
        assert maker.post("/v1/auth/invites", dumped({"email": email, "role": "editor"})).status_code == 201
    accept(Browser(), mailed_token("joined@else.example"), "joined@else.example")
    promoted = add_person(organization, Role.EDITOR, "promoted@bank.example")
    sent = dumped({"role": "admin"})
    maker.client.generic("PATCH", f"/v1/auth/members/{promoted.pk}", sent, content_type="application/json")
    return made


def works(organization, key: dict) -> bool:
    return Api(organization, key["api_key"]).get("/v1/auth/me").status_code == 200


def test_the_lineage_of_a_revoked_key_ends_and_the_answer_names_it(organization, api, line):
    token = mailed_token(GUEST)
    answer = api.client.delete(f"/v1/auth/api-keys/{line[0]['key_id']}").json()
    assert [works(organization, key) for key in line] == [False] * 3
    assert api.get("/v1/auth/me").status_code == 200, "the key that made them all goes on"
    assert [key["key_id"] for key in answer["keys"]] == [line[2]["key_id"], line[1]["key_id"]]
    assert [(offer["email"], bool(offer["revoked_at"])) for offer in answer["invites"]] == [(GUEST, True)]
    assert [member["email"] for member in answer["members"]] == ["promoted@bank.example", "joined@else.example"]
    assert Browser().get(f"/invites/{token}/").status_code == 410
    *others, first = events("key.revoked")
    assert first.object_id == line[0]["key_id"]
    assert first.detail == {"members": [int(member["member_id"]) for member in answer["members"]]}
    assert [event.detail for event in [*others, *events("invite.revoked")]] == [{"with_key": first.object_id}] * 3


def test_revoking_a_key_leaves_its_makers(organization, api, line):
    api.client.delete(f"/v1/auth/api-keys/{line[1]['key_id']}")
    assert [works(organization, key) for key in line] == [True, False, False]


def test_a_key_without_a_known_maker_goes_on(organization, api, line):
    ApiKey.objects.for_organization(organization).filter(key_id=line[1]["key_id"]).update(making_key=None)
    api.client.delete(f"/v1/auth/api-keys/{line[0]['key_id']}")
    assert [works(organization, key) for key in line] == [False, True, True]


def test_a_keys_page_names_its_lineage_and_members(organization, line):
    key = ApiKey.objects.for_organization(organization).get(key_id=line[0]["key_id"])
    address = f"/admin/accounts/apikey/{key.pk}/"
    browser = signed_in(add_person(organization, Role.ADMIN).user)
    before = browser.get(f"{address}change/").content.decode()
    assert all(name in before for name in ("generation 1", "generation 2", GUEST, "joined@else.example", "promoted@"))
    browser.submit(f"{address}change/", f"{address}revoke/")
    after = browser.get(f"{address}change/").content.decode()
    assert "Still members, with a role from there: promoted@bank.example, joined@else.example." in after
    assert f"the invitation to {GUEST}." in after


@pytest.mark.parametrize("keep_keys", [False, True])
@pytest.mark.parametrize("act", ["demoted", "removed"])
def test_a_member_s_invitations_end_with_their_role_and_those_of_kept_keys_go_on(organization, system, act, keep_keys):
    person = add_person(organization, Role.ADMIN)
    by_person = Caller(organization.pk, Role.ADMIN, Actor("member", str(person.user_id), person.user.email))
    by_key = key_of(by_person, Role.ADMIN)[0]
    own, of_key = (
        invites.invite(caller=maker, email=f"{number}@else.example", role=Role.EDITOR)
        for number, maker in enumerate((by_person, by_key))
    )
    if act == "demoted":
        _, made = members.change_role(caller=system, member=person, role=Role.EDITOR, keep_keys=keep_keys)
    else:
        _, made = members.remove_member(caller=system, member=person, keep_keys=keep_keys)
    assert len(made.invites) == 2
    for offer, status in ((own, "revoked"), (of_key, "open" if keep_keys else "revoked")):
        offer.refresh_from_db()
        assert offer.status == status


def test_the_answer_on_a_removed_member_names_members_they_gave_a_role(organization, api):
    person, other = add_person(organization, Role.ADMIN), add_person(organization, Role.EDITOR)
    by_person = selectors.caller(person)
    members.change_role(caller=by_person, member=other, role=Role.APPROVER)
    invites.invite(caller=by_person, email=GUEST, role=Role.EDITOR)
    accept(Browser(), mailed_token(GUEST), GUEST)
    answer = api.client.delete(f"/v1/auth/members/{person.pk}").json()
    assert [member["email"] for member in answer["members"]] == [GUEST, other.user.email]
    assert events("member.removed")[0].detail["members"] == [int(row["member_id"]) for row in answer["members"]]
    owner = add_person(organization, Role.OWNER, "second@bank.example")
    _, made = members.change_role(caller=selectors.caller(owner), member=owner, role=Role.ADMIN)
    assert made.members == []


def test_an_older_offer_does_not_bring_a_removed_member_back(organization, system):
    invites.invite(caller=system, email=GUEST, role=Role.EDITOR)
    token = mailed_token(GUEST)
    members.remove_member(caller=system, member=add_person(organization, Role.EDITOR, GUEST))
    assert Browser().get(f"/invites/{token}/").status_code == 410


@pytest.mark.parametrize("ended", ["revoked_at", "expires_at"])
def test_a_key_that_has_just_ended_makes_nothing(organization, system, ended):
    maker, key, _ = key_of(system, Role.ADMIN)
    ApiKey.objects.for_organization(organization).filter(pk=key.pk).update(**{ended: timezone.now()})
    for make in (
        lambda: key_of(maker, Role.EDITOR),
        lambda: invites.invite(caller=maker, email=GUEST, role=Role.EDITOR),
    ):
        with pytest.raises(lineage.MayNoLonger):
            make()
