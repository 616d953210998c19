"""The commands that make organizations and keys, and their errors."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import ApiKey, AuditEvent, Member, Organization
from accounts.roles import Role
from accounts.services import SlugTaken
from config.errors import DomainError
from tests.conftest import Api

pytestmark = pytest.mark.django_db


def run(*arguments: object) -> str:
    out = StringIO()
    call_command(*map(str, arguments), stdout=out)
    return out.getvalue()


def test_create_organization_prints_the_slug_alone_and_makes_the_owner():
    assert run("create_organization", "Example & Söhne Bank", "--owner", "Ada@Example.org") == "example-sohne-bank\n"
    member = Member.objects.get()
    assert (member.organization.name, member.role, member.user.email) == (
        "Example & Söhne Bank", "owner", "ada@example.org",
    )  # fmt: skip
    assert not member.user.has_usable_password()
    events = AuditEvent.objects.order_by("pk").values_list("verb", "actor_kind", "actor_id")
    assert list(events) == [
        ("organization.created", "system", "command-line"),
        ("member.added", "system", "command-line"),
    ]


def test_a_person_may_own_several_organizations():
    for name in ("First", "Second"):
        run("create_organization", name, "--owner", "ada@example.org")
    assert Member.objects.filter(user__email="ada@example.org").count() == 2


MISTAKES = [
    (["Bank", "--owner", "no-mail"], "mail"),
    (["Bank", "--owner", ""], "mail"),
    (["Bank", "--owner", "a" * 60 + "@" + "b.c." * 60 + "example"], "mail"),
    (["Bank", "--owner", "a@b.example", "--slug", "two words"], "slug"),
    (["Bank", "--owner", "a@b.example", "--slug", "x" * 51], "slug"),
    (["Bank", "--owner", "a@b.example", "--slug", "taken"], "taken"),
    (["!!!", "--owner", "a@b.example"], "slug"),
    (["", "--owner", "a@b.example"], "name"),
    (["x" * 201, "--owner", "a@b.example"], "name"),
]


@pytest.mark.parametrize(("arguments", "named"), MISTAKES)
def test_a_mistake_in_create_organization_is_named_and_nothing_is_made(arguments, named):
    run("create_organization", "Taken", "--owner", "first@b.example")
    with pytest.raises((CommandError, SlugTaken), match=f"(?i){named}"):
        run("create_organization", *arguments)
    assert Organization.objects.count() == Member.objects.count() == 1


def test_a_taken_slug_is_named_with_the_way_out():
    run("create_organization", "Bank", "--owner", "a@b.example")
    with pytest.raises(SlugTaken) as mistake:
        run("create_organization", "Bank", "--owner", "a@b.example")
    assert mistake.value.sentence == "The slug bank is taken. Choose another with --slug."


def test_create_api_key_prints_the_key_alone_and_it_works(organization):
    printed = run("create_api_key", "--organization", organization.slug, "--name", "batch")
    assert printed == printed.strip() + "\n"
    assert Api(organization, printed.strip()).get("/v1/decisions").status_code == 200
    key = ApiKey.objects.get()
    assert (key.name, key.role, key.expires_at) == ("batch", "editor", None)
    assert key.created_by == "system an administrator at the command line"


@pytest.mark.parametrize("role", list(Role))
def test_create_api_key_takes_a_role_and_a_lifetime(organization, role):
    named = ("--organization", organization.slug, "--name", "x")
    run("create_api_key", *named, "--role", role, "--expires-in-days", 30)
    key = ApiKey.objects.get()
    assert key.role == role
    assert abs(key.expires_at - timezone.now() - timedelta(days=30)) < timedelta(minutes=1)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--organization", "unknown", "--name", "x"], "There is no organization with the slug unknown"),
        (["--organization", "example-bank"], "--name"),
        (["--name", "x"], "--organization"),
        (["--organization", "example-bank", "--name", "x", "--role", "boss"], "invalid choice: 'boss'"),
        (["--organization", "example-bank", "--name", "x", "--expires-in-days", "soon"], "invalid int value"),
        (["--organization", "example-bank", "--name", "x", "--expires-in-days", "0"], "expires-in-days"),
        (["--organization", "example-bank", "--name", "x", "--expires-in-days", "-1"], "expires-in-days"),
        (["--organization", "example-bank", "--name", "x", "--expires-in-days", "9999999"], "expires-in-days"),
        (["--organization", "example-bank", "--name", "x" * 257], "at most 256 characters"),
    ],
)
def test_a_mistake_in_create_api_key_is_named_and_no_key_is_made(organization, arguments, named):
    with pytest.raises((CommandError, DomainError), match=named):
        run("create_api_key", *arguments)
    assert not ApiKey.objects.exists()
