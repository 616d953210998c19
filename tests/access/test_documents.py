"""Roles, limits and verbs in docs/roles.md and docs/access.md match the code."""

import re

from accounts.models import AuditEvent
from accounts.roles import CONFIRMED, MEMBER_ROLES, Permission, Role, allows
from accounts.services import codes, invites
from docs import roles as roles_page
from tests.accounts.endpoints import ENDPOINTS, EVERY_MEMBER
from tests.docs.documents import CHECKOUT, first_column, section, text


def rows(heading: str) -> list[list[str]]:
    lines = [line for line in section("docs/roles.md", heading).splitlines() if line.startswith("|")]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]


def test_the_documented_roles_match_the_code():
    assert roles_page.with_tables(text("docs/roles.md")) == text("docs/roles.md"), "run `make docs`"


def test_the_documented_matrix_matches_the_code():
    head, _, *shown = rows("What a role may do")
    assert head == ["may", *Role, "second factor"]
    assert {row[0]: row[1:-1] for row in shown} == {
        permission.value: ["yes" if allows(role, permission) else "no" for role in Role] for permission in Permission
    }


def test_the_documented_roles_with_a_second_factor_match_the_matrix():
    """The test states the rule by the permissions' names; the pages name the roles that follow from it."""
    _, _, *shown = rows("What a role may do")
    asking = {row[0] for row in shown if row[-1] == "yes"}
    names = ("APPROVE", "GRANT", "MANAGE", "ROTATE", "DISPOSE", "TEST_CUSTODY")
    assert asking == {permission.value for permission in Permission if permission.name.startswith(names)}
    assert {role for role in MEMBER_ROLES for row in shown if row[0] in asking and allows(role, row[0])} == CONFIRMED
    assert {Role.OWNER, Role.ADMIN, Role.APPROVER} == CONFIRMED
    for page in ("docs/access.md", "docs/roles.md", "docs/api.md", "THREAT_MODEL.md"):
        assert "owners, admins and approvers" in " ".join(text(page).split()), page


def test_the_documented_permission_of_each_call_matches_the_endpoints():
    """The list of endpoints is written by hand, and the tests call them with every role."""
    _, _, *shown = rows("What a call needs")
    needed = {re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", row[0].replace("/v1/", "")): row[1] for row in shown}
    for name, endpoint in ENDPOINTS.items():
        permission = needed[re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", name)]
        if endpoint.callers == "anybody":
            assert permission == "anybody", name
        elif permission == "every role but `sender":
            assert endpoint.roles == EVERY_MEMBER, name
        else:
            assert {role.value for role in Role if allows(role, Permission(permission))} == endpoint.roles, name


def test_every_role_is_explained():
    assert first_column(text("docs/roles.md").partition("## What a role may do")[0]) == list(Role)


def test_the_documented_limits_match_the_code(settings):
    page = text("docs/access.md")
    assert f"| lives | {codes.LIFETIME.seconds // 60} minutes |" in page
    assert f"| allows | {codes.TRIES} tries, then a new one is needed |" in page
    (an_hour,) = re.findall(r'"CODES_PER_HOUR", default=(\d+)', text("config/settings.py"))
    assert f"| is given | {an_hour} times an hour" in page
    assert (codes.DIGITS, invites.LIFETIME.days) == (6, 7)
    assert "six digits" in page
    limits = dict(re.findall(r"^\| ([^|]+ \| [^|]+) \| (\d+) \|$", section("docs/access.md", "Limits"), re.MULTILINE))
    assert {name: int(number) for name, number in limits.items()} == {
        "codes asked for in an hour | each mail address, known browsers aside": codes.STRANGERS_PER_HOUR,
        "wrong codes | each code": codes.TRIES,
        "wrong codes in a day | each mail address and network address, or known browser": codes.TRIES_PER_DAY,
        "wrong codes in a day | each mail address, known browsers aside": codes.STRANGERS_TRIES_PER_DAY,
        "wrong codes of an app in a day | each person": codes.APP_TRIES_PER_DAY,
    }
    assert f"*known* for that address for {codes.BROWSER_KNOWN.days} days" in page
    assert codes.APP_TRIES_PER_DAY == 50, "fifty, in words"
    assert "good for seven days" in page
    assert settings.SESSION_IDLE.seconds == 3600
    assert settings.SESSION_LONGEST.seconds == 12 * 3600


VERBS = re.compile(r'(?:audit\.record|_audit)\(\s*"([a-z_.]+)"')


def test_every_verb_of_access_is_explained_and_no_other():
    sources = [path.read_text() for path in (CHECKOUT / "accounts").rglob("*.py")]
    written = {verb for source in sources for verb in VERBS.findall(source)}
    assert written >= {"key.refused", "session.ended", "member.removed"}
    assert set(first_column(section("docs/access.md", "The audit trail"))) == written
    assert all(len(verb) <= AuditEvent._meta.get_field("verb").max_length for verb in written)
