"""Members, invitations and keys: the pages do what the services allow, and say in advance what they would refuse."""

import re
from html import unescape

import pytest

from accounts import callers, selectors, services
from accounts.callers import Caller
from accounts.models import ApiKey, AuditEvent, Invite, Member
from accounts.roles import Role
from accounts.services.invites import AlreadyMember
from accounts.services.members import RoleOutOfReach
from tests.people import Browser, add_person, newest_mail
from tests.threads import at_once

pytestmark = pytest.mark.django_db
OTHERS = [Role.APPROVER, Role.EDITOR, Role.AUDITOR]
OUT_OF_REACH = RoleOutOfReach.sentence


def page_of(row):
    return f"/admin/accounts/{row._meta.model_name}/{row.pk}/change/"


def action(row, name):
    return f"/admin/accounts/{row._meta.model_name}/{row.pk}/{name}/"


def reasons(answer):
    """Return why buttons are disabled, by the elements that they name in `aria-describedby`."""
    page = answer.content.decode()
    names = re.findall(r'<button type="submit"[^>]* disabled aria-describedby="([^"]+)"', page)
    return [unescape(re.search(rf'id="{name}">([^<]*)<', page).group(1)) for name in names]


def message(browser):
    """Return the message that the next page shows."""
    match = re.search(r'<p class="message [a-z]+"[^>]*>(.*?)</p>', browser.get("/admin/").content.decode(), re.S)
    return unescape(match.group(1).strip())


@pytest.fixture
def owner(organization):
    return organization.members.get()


@pytest.fixture
def editor(organization):
    return add_person(organization, Role.EDITOR, "editor@bank.example")


# ── members ──


def test_a_members_role_can_be_changed(editor, signed_in):
    browser = signed_in(Role.ADMIN)
    assert browser.submit(page_of(editor), action(editor, "role"), role="approver").status_code == 302
    editor.refresh_from_db()
    assert editor.role == Role.APPROVER
    assert message(browser) == "From their next request on, editor@bank.example has the role approver."
    event = AuditEvent.objects.get(verb="member.role_changed")
    acting = Member.objects.get(role=Role.ADMIN).user.email
    assert (event.actor_label, event.detail) == (acting, {"before": "editor", "after": "approver"})


def test_a_member_can_be_removed(editor, signed_in):
    browser = signed_in(Role.OWNER)
    answer = browser.submit(page_of(editor), action(editor, "remove"))
    assert answer["Location"] == "/admin/accounts/member/"
    assert not Member.objects.filter(pk=editor.pk).exists()


@pytest.fixture
def key_of_an_admin(organization):
    """Create another admin and a key of theirs."""
    member = add_person(organization, Role.ADMIN, "leaving@bank.example")
    actor = selectors.caller(member).actor
    key, _ = services.create_api_key(caller=Caller(organization.pk, Role.ADMIN, actor), name="Nightly", role=Role.ADMIN)
    return member, key


@pytest.mark.parametrize(("name", "fields"), [("role", {"role": "editor"}), ("remove", {})])
@pytest.mark.parametrize("keep", [False, True])
def test_the_keys_of_a_member_are_listed_and_revoked_by_default(key_of_an_admin, signed_in, name, fields, keep):
    member, key = key_of_an_admin
    browser = signed_in(Role.OWNER)
    page = browser.get(page_of(member)).content.decode()
    assert page_of(key) in page
    assert page.count('name="keep_keys"') == 2
    browser.submit(page_of(member), action(member, name), **fields, **({"keep_keys": "on"} if keep else {}))
    key.refresh_from_db()
    assert (key.revoked_at is None) == keep
    assert f"{'Still working' if keep else 'Revoked'}: Nightly ({key.key_id})." in message(browser)


def test_a_member_without_keys_has_no_choice_about_keys(editor, signed_in):
    page = signed_in(Role.OWNER).get(page_of(editor)).content.decode()
    assert "has no working keys" in page
    assert "keep_keys" not in page


def test_an_admin_cannot_change_an_owner_and_sees_why(owner, editor, signed_in):
    browser = signed_in(Role.ADMIN)
    assert reasons(browser.get(page_of(owner))) == [OUT_OF_REACH] * 2
    for path, fields in ((action(owner, "role"), {"role": "auditor"}), (action(owner, "remove"), {})):
        browser.submit(page_of(owner), path, **fields)
        assert message(browser) == OUT_OF_REACH
    browser.submit(page_of(editor), action(editor, "role"), role="owner")
    assert "not one of the available choices" in message(browser)
    assert list(Member.objects.filter(role=Role.OWNER)) == [owner]


def test_the_last_owner_cannot_be_changed_or_removed_and_sees_why(owner, signed_in, organization):
    browser = signed_in(Role.OWNER)
    second = Member.objects.filter(role=Role.OWNER).exclude(pk=owner.pk).get()
    assert reasons(browser.get(page_of(owner))) == []
    browser.submit(page_of(owner), action(owner, "role"), role="auditor")
    assert [reason.partition(".")[0] for reason in reasons(browser.get(page_of(second)))] == [
        "An organization keeps at least one owner"
    ] * 2
    browser.submit(page_of(second), action(second, "remove"))
    assert "keeps at least one owner" in message(browser)
    assert Member.objects.filter(pk=second.pk, role=Role.OWNER).exists()


@pytest.mark.parametrize("role", OTHERS)
def test_other_roles_cannot_change_members(role, editor, signed_in):
    browser = signed_in(role)
    token = browser.csrf_token("/admin/")
    for name in ("role", "remove"):
        answer = browser.post(action(editor, name), {"role": "auditor", "csrfmiddlewaretoken": token})
        assert answer.status_code == 403
    editor.refresh_from_db()
    assert editor.role == Role.EDITOR


def test_members_of_another_organization_are_a_404(other_api, signed_in):
    other = other_api.organization.members.get()
    browser = signed_in(Role.OWNER)
    token = browser.csrf_token("/admin/")
    for name in ("role", "remove"):
        answer = browser.post(action(other, name), {"role": "auditor", "csrfmiddlewaretoken": token})
        assert answer.status_code == 404
    other.refresh_from_db()
    assert other.role == Role.OWNER


# ── invitations ──

INVITE = "/admin/accounts/invite/invite/"


def test_an_invitation_can_be_sent_and_withdrawn(signed_in, organization):
    browser = signed_in(Role.ADMIN)
    assert browser.submit(INVITE, email="New@Else.example", role="editor").status_code == 302
    invite = Invite.objects.get()
    assert (invite.email, invite.role) == ("new@else.example", "editor")
    assert newest_mail("new@else.example")
    assert reasons(browser.get(page_of(invite))) == []
    browser.submit(page_of(invite), action(invite, "withdraw"))
    invite.refresh_from_db()
    assert invite.revoked_at
    assert reasons(browser.get(page_of(invite))) == ["This invitation is revoked."]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"email": "nothing", "role": "editor"}, "Enter a valid email address."),
        ({"email": "", "role": "editor"}, "This field is required."),
        ({"email": "a@else.example", "role": "king"}, "not one of the available choices"),
        ({"email": "a@else.example", "role": "owner"}, "not one of the available choices"),
        ({"email": "owner@bank.example", "role": "editor"}, AlreadyMember.sentence),
    ],
)
def test_an_invalid_invitation_has_an_error_at_the_form(signed_in, fields, says):
    answer = signed_in(Role.ADMIN).submit(INVITE, **fields)
    assert answer.status_code == 422
    assert says in unescape(answer.content.decode())
    assert not Invite.objects.exists()


def test_only_an_owner_withdraws_the_invitation_of_an_owner(signed_in):
    signed_in(Role.OWNER).submit(INVITE, email="a@else.example", role="owner")
    invite = Invite.objects.get()
    browser = signed_in(Role.ADMIN)
    assert reasons(browser.get(page_of(invite))) == [OUT_OF_REACH]
    browser.submit(page_of(invite), action(invite, "withdraw"))
    invite.refresh_from_db()
    assert invite.revoked_at is None


# ── keys ──

CREATE = "/admin/accounts/apikey/create/"


def key_form(browser, **fields):
    """Return the fields of the page's form, with its hidden fields and its preselected role."""
    page = browser.get(CREATE).content.decode()
    hidden = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page)
    chosen = re.findall(r'<option value="(\w+)" selected>', page)
    return {**dict(hidden), **({"role": chosen[0]} if chosen else {}), **fields}


def create_key(browser, name):
    return browser.post(CREATE, key_form(browser, name=name))


def test_a_key_is_shown_once_works_and_can_be_revoked(signed_in, client):
    browser = signed_in(Role.ADMIN)
    answer = browser.post(CREATE, key_form(browser, name="nightly <import>", role="editor"))
    key = ApiKey.objects.get()
    token = re.search(r"drs_[\w-]+", answer.content.decode()).group()
    assert (key.name, key.role) == ("nightly <import>", Role.EDITOR)
    assert "no-store" in answer["Cache-Control"]
    assert client.get("/v1/decisions", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    for path in (page_of(key), "/admin/accounts/apikey/", CREATE):
        assert token not in browser.get(path).content.decode()
    browser.submit(page_of(key), action(key, "revoke"))
    assert client.get("/v1/decisions", headers={"Authorization": f"Bearer {token}"}).status_code == 401
    assert reasons(browser.get(page_of(key))) == ["This key is revoked already."]


def test_a_key_gets_a_role_that_the_operator_may_give(signed_in):
    browser = signed_in(Role.ADMIN)
    offered = re.findall(r'<option value="(\w+)"', browser.get(CREATE).content.decode())
    assert offered == ["admin", "approver", "editor", "auditor", "sender"]
    assert browser.post(CREATE, key_form(browser, name="x", role="sender")).status_code == 200
    assert ApiKey.objects.get().role == Role.SENDER
    assert browser.post(CREATE, key_form(browser, name="x", role="owner")).status_code == 422
    assert ApiKey.objects.count() == 1


def test_a_key_is_a_sender_unless_the_operator_chooses_another_role(signed_in):
    create_key(signed_in(Role.OWNER), "nightly import")
    assert ApiKey.objects.get().role == Role.SENDER


def test_a_person_cannot_be_a_sender(editor, signed_in):
    browser = signed_in(Role.OWNER)
    assert '"sender"' not in browser.get(INVITE).content.decode() + browser.get(page_of(editor)).content.decode()
    assert browser.submit(INVITE, email="a@else.example", role="sender").status_code == 422
    browser.submit(page_of(editor), action(editor, "role"), role="sender")
    editor.refresh_from_db()
    assert editor.role == Role.EDITOR
    assert not Invite.objects.exists()


def test_a_form_sent_twice_creates_one_key(signed_in):
    browser = signed_in(Role.ADMIN)
    form = key_form(browser, name="nightly import")
    assert browser.post(CREATE, form).status_code == 200
    for sent in (form, {**form, "form_token": ""}, {**form, "form_token": "made-up"}):
        answer = browser.post(CREATE, sent)
        assert (answer.status_code, answer["Location"]) == (302, "/admin/accounts/apikey/")
        assert message(browser).startswith("No key was created: this form was sent before, or is too old.")
    assert ApiKey.objects.count() == 1


def test_a_refused_form_and_a_form_of_another_tab_can_be_sent(signed_in):
    browser = signed_in(Role.ADMIN)
    form, other = key_form(browser, name=""), key_form(browser, name="other")
    assert [browser.post(CREATE, form).status_code, browser.post(CREATE, {**form, "name": "x"}).status_code] == [
        422,
        200,
    ]
    assert browser.post(CREATE, other).status_code == 200


def test_a_form_sent_concurrently_creates_one_key(shared_database, signed_in):
    browser = signed_in(Role.ADMIN)
    form = key_form(browser, name="nightly import")

    def send(_):
        same = Browser()
        same.cookies = browser.cookies
        return same.post(CREATE, form).status_code

    assert sorted(at_once(8, send)) == [200] + [302] * 7
    assert ApiKey.objects.count() == 1


@pytest.mark.parametrize("name", ["", " ", "x" * 257, "a\x00b"])
def test_a_key_needs_a_name(signed_in, name):
    assert create_key(signed_in(Role.ADMIN), name).status_code == 422
    assert not ApiKey.objects.exists()


def test_the_creator_of_a_key_or_invitation_is_shown_without_the_kind_of_actor(signed_in, api):
    browser = signed_in(Role.OWNER)
    create_key(browser, "nightly import")
    browser.submit(INVITE, email="a@else.example", role="editor")
    maker = Member.objects.filter(role=Role.OWNER).latest("pk").user.email
    for path in ("/admin/accounts/apikey/", page_of(ApiKey.objects.latest("pk")), page_of(Invite.objects.get())):
        shown = browser.get(path).content.decode()
        assert f">{maker}<" in shown
        assert f"member {maker}" not in shown


@pytest.mark.parametrize("path", [INVITE, CREATE])
@pytest.mark.parametrize("role", OTHERS)
def test_other_roles_cannot_invite_or_create_keys(signed_in, role, path):
    browser = signed_in(role)
    token = browser.csrf_token("/admin/")
    fields = {"email": "a@else.example", "role": "editor", "name": "x", "csrfmiddlewaretoken": token}
    assert [browser.get(path).status_code, browser.post(path, fields).status_code] == [403, 403]
    assert not Invite.objects.exists()
    assert not ApiKey.objects.exists()


# ── every action ──


@pytest.fixture
def actions(editor, api, organization, signed_in):
    signed_in(Role.OWNER).submit(INVITE, email="a@else.example", role="editor")
    invite, key = Invite.objects.get(), ApiKey.objects.get()
    return [action(editor, "role"), action(editor, "remove"), action(invite, "withdraw"), action(key, "revoke")]


def test_a_get_request_for_an_action_is_a_405(actions, signed_in):
    browser = signed_in(Role.OWNER)
    before = AuditEvent.objects.count()
    assert [browser.get(path, {"role": "auditor"}).status_code for path in actions] == [405] * 4
    assert AuditEvent.objects.count() == before


def test_a_member_without_a_required_second_factor_cannot_act(actions, signed_in, organization):
    browser = signed_in(Role.OWNER, "third@bank.example")
    services.require_second_factor(caller=callers.system(organization.pk), required=True)
    token = browser.csrf_token("/account/sessions/")
    before = AuditEvent.objects.count()
    fields = {"role": "auditor", "name": "x", "email": "b@else.example", "csrfmiddlewaretoken": token}
    for path in [*actions, INVITE, CREATE]:
        answer = browser.post(path, fields)
        assert answer.status_code == 403, path
        assert "Confirm with your app first" in answer.content.decode()
    assert AuditEvent.objects.count() == before
    assert browser.get("/admin/accounts/member/").status_code == 200, "reading is still allowed"


def test_a_form_without_a_csrf_token_is_refused(actions, signed_in):
    browser = signed_in(Role.OWNER)
    browser.get("/admin/")
    before = AuditEvent.objects.count()
    paths = [*actions, INVITE, CREATE]
    fields = {"role": "auditor", "name": "x", "email": "b@else.example"}
    assert [browser.post(path, fields).status_code for path in paths] == [403] * 6
    assert AuditEvent.objects.count() == before


def test_without_a_session_every_action_redirects_to_sign_in(actions, client):
    for path in [*actions, INVITE, CREATE]:
        assert client.post(path)["Location"].startswith("/admin/login/")
