"""Writers cannot approve their own words, by session, key or shell."""

import pytest

from accounts import audit, callers, services
from accounts.callers import Caller
from accounts.models import Member
from accounts.roles import Role
from notices import selectors
from notices import services as notices
from notices.errors import OwnNotice, WrongApprover
from notices.models import Approval
from tests.cases import each_case
from tests.conftest import Api
from tests.notices.conftest import acting, approve, done, drafted, edit, refused, send, shown, step, stored
from tests.support.kept_rows import make_once

pytestmark = pytest.mark.django_db

WRITER = "writer@bank.example"
THEIRS = [
    WRITER,
    "Writer@Bank.Example",
    f"  {WRITER} ",
    f"\t{WRITER}\n",
    f"J. Writer <{WRITER}>",
    f"J. Writer, {WRITER.upper()}.",
    f"mailto:{WRITER}",
    WRITER.replace("w", "\uff57"),  # a wide letter, which looks the same
    WRITER.replace("r", "r\u200b"),  # invisible characters
    f"\u202a{WRITER}\u202c",
    f"\u00ad{WRITER.replace('@', chr(0x2060) + '@')}",
]


@pytest.fixture
def writer(organization) -> Caller:
    return make_once("writer", lambda: acting(organization, Role.OWNER, WRITER))


@pytest.fixture
def written(api, notice, writer) -> dict:
    """Return a notice that `writer` has edited, and another member since."""

    def make() -> dict:
        notices.edit(notice=stored(api, notice), changes={"title": "Mine"}, caller=writer)
        return done(edit(api, notice, deadline_note="Soon."))

    return make_once("written", make)


def approve_by_service(api, notice, caller, **claim):
    row = stored(api, notice)
    return notices.approve(notice=row, caller=caller, **claim)


@pytest.mark.parametrize("body", [{}, {"approver": WRITER}, {"approver": "Another Member", "authority": "any"}])
def test_a_writer_cannot_approve_by_their_session(api, notice, signed_in, body):
    browser = signed_in(Role.OWNER, WRITER)
    done(edit(browser, notice, title="Mine"))
    refused(step(browser, notice, "approve", body))
    assert not Approval.objects.exists()


@each_case("approver", THEIRS[::4])
def test_a_key_cannot_approve_in_a_writer_s_name(api, written, approver):
    assert "Ask another person to approve it" in refused(approve(api, written, approver=approver))
    assert not Approval.objects.exists()


@each_case("approver", THEIRS)
def test_the_shell_cannot_approve_in_a_writer_s_name(api, organization, written, approver):
    shell = Caller(organization.pk, Role.OWNER, audit.COMMAND_LINE)
    with pytest.raises(OwnNotice):
        approve_by_service(api, written, shell, approver=approver, authority="any")
    assert not Approval.objects.exists()


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.APPROVER])
def test_no_role_lets_a_writer_approve(api, notice, organization, role):
    caller = acting(organization, role, f"{role}@writers.example")
    notices.edit(notice=stored(api, notice), changes={"title": "Mine"}, caller=caller)
    with pytest.raises(OwnNotice, match="Ask another person to approve it"):
        approve_by_service(api, notice, caller)


def test_no_authority_grant_lets_a_writer_approve(api, written, writer, organization):
    admin = acting(organization, Role.ADMIN, "admin@bank.example")
    member = Member.objects.get(pk=writer.member_id)
    notices.grant_authority(
        member=member, authority="credit officer", valid_from=member.created_at.date(), caller=admin
    )
    with pytest.raises(OwnNotice, match="Ask another person to approve it"):
        approve_by_service(api, written, writer)


def test_a_writer_who_left_and_rejoined_cannot_approve(api, written, writer, organization):
    Member.objects.get(pk=writer.member_id).delete()
    with pytest.raises(OwnNotice, match="Ask another person to approve it"):
        approve_by_service(api, written, acting(organization, Role.APPROVER, WRITER))


def test_a_writer_cannot_approve_under_another_spelling_of_their_address(api, notice, organization):
    """Addresses are stored in lower case. For some letters, casefolding gives another result."""
    caller = acting(organization, Role.OWNER, "straße@bank.example")
    notices.edit(notice=stored(api, notice), changes={"title": "Mine"}, caller=caller)
    refused(approve(api, notice, approver="STRASSE@bank.example"))


@pytest.mark.parametrize("other", [f"j{WRITER}", f"a.{WRITER}", f"{WRITER}.org", f"{WRITER}s", f"my-{WRITER}"])
def test_an_address_that_contains_a_writer_s_is_another_person_s(api, written, other):
    assert done(approve(api, written, approver=other))["approval"]["approver"] == other


# ── actions that count as writing ──


def drafts(api, organization, caller):
    decision = stored(api, drafted(api)).decision
    pack = selectors.packs()["general"]
    return notices.draft(decision=decision, pack=pack, language="en", recipient={}, caller=caller)


def edits(api, organization, caller):
    row = stored(api, drafted(api))
    notices.edit(notice=row, changes={"title": "Mine"}, caller=caller)
    return row


def says_that_an_element_does_not_apply(api, organization, caller):
    row = stored(api, drafted(api))
    notices.edit(notice=row, changes={}, not_applicable={"inputs": "None were."}, caller=caller)
    return row


def makes_a_new_version(api, organization, caller):
    row = stored(api, done(approve(api, drafted(api))))
    return notices.new_version(notice=row, caller=caller)


@pytest.mark.parametrize("writes", [drafts, edits, says_that_an_element_does_not_apply, makes_a_new_version])
def test_no_contributor_can_approve(api, notice, organization, writer, writes):
    row = {"notice_id": str(writes(api, organization, writer).pk)}
    with pytest.raises(OwnNotice, match="Ask another person to approve it"):
        approve_by_service(api, row, writer)
    assert done(approve(api, row))["state"] == "approved"


def test_sending_to_review_and_asking_for_changes_is_not_writing(api, notice, signed_in):
    reviewer = signed_in(Role.APPROVER)
    done(step(reviewer, notice, "submit"))
    done(step(reviewer, notice, "request-changes", {"reason": "Name the income."}))
    done(edit(api, notice, title="New"))
    assert done(step(reviewer, notice, "approve"))["state"] == "approved"


# ── other approvers ──


def test_another_member_approves_in_their_own_name(api, written, signed_in):
    approval = done(step(signed_in(Role.APPROVER, "second@bank.example"), written, "approve"))["approval"]
    assert approval["approver"] == "second@bank.example"
    assert (approval["basis"], approval["authority"], approval["verified"]) == ("signed in", "approver", False)


@pytest.mark.parametrize("spelled", ["", "second@bank.example", " Second@BANK.example "])
def test_a_member_may_give_their_own_address_in_any_spelling(api, written, organization, spelled):
    second = acting(organization, Role.APPROVER, "second@bank.example")
    assert approve_by_service(api, written, second, approver=spelled).approver == "second@bank.example"


def test_an_address_with_letters_unchanged_by_lower_case_is_one_s_own(api, written, organization):
    second = acting(organization, Role.APPROVER, "straße@bank.example")
    assert approve_by_service(api, written, second, approver="straße@bank.example").approver == "straße@bank.example"


def test_a_member_does_not_approve_in_the_name_of_another(api, written, organization):
    second = acting(organization, Role.APPROVER, "second@bank.example")
    with pytest.raises(WrongApprover, match="your own name"):
        approve_by_service(api, written, second, approver="third@bank.example")


def test_a_refused_approval_changes_nothing(api, written):
    before = shown(api, written)
    refused(approve(api, written, approver=WRITER))
    assert shown(api, written) == before


def test_an_editor_does_not_approve_at_all(api, notice, organization, api_for, signed_in):
    assert approve(api_for(organization, Role.EDITOR), notice).status_code == 403
    assert step(signed_in(Role.EDITOR), notice, "approve").status_code == 403


def test_the_approval_of_another_organization_s_notice_is_a_404(api, other_api, notice):
    assert approve(other_api, notice).status_code == 404
    services.add_member(caller=callers.system(other_api.organization.pk), email=WRITER, role=Role.OWNER)
    assert send(other_api, "POST", f"notices/{notice['notice_id']}/withdraw").status_code == 404


def test_a_member_cannot_approve_words_their_key_edited(api, organization, notice, signed_in):
    owner = signed_in(Role.OWNER, "maker@bank.example")
    token = done(send(owner, "POST", "auth/api-keys", {"name": "mine"}))["api_key"]
    edit(Api(organization, token), notice, title="Mine")
    assert "Ask another person to approve it" in refused(step(owner, notice, "approve"))
    assert "Ask another person to approve it" in refused(approve(api, notice, approver="maker@bank.example"))
    done(approve(api, notice))


def test_a_writer_s_key_cannot_approve_in_another_name(api, organization, notice, signed_in):
    owner = signed_in(Role.OWNER, "maker@bank.example")
    done(edit(owner, notice, title="Mine"))
    token = done(send(owner, "POST", "auth/api-keys", {"name": "mine"}))["api_key"]
    assert "member who made this key" in refused(approve(Api(organization, token), notice, approver="Another Person"))
    assert done(approve(api, notice, approver="Another Member"))["state"] == "approved"


def test_a_key_that_a_member_s_key_made_is_theirs_too(api, notice, signed_in):
    editor = signed_in(Role.ADMIN, "alice@bank.example")
    first = done(send(editor, "POST", "auth/api-keys", {"name": "first"}))
    second = done(send(Api(api.organization, first["api_key"]), "POST", "auth/api-keys", {"name": "second"}))
    done(edit(Api(api.organization, second["api_key"]), notice, title="Alice's own words"))
    assert "Ask another person to approve it" in refused(step(editor, notice, "approve"))
