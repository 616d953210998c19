"""The demo of `make run`: an organization and its people, to which each app adds what it can show."""

from collections.abc import Callable

from django.conf import settings

from accounts import audit, callers, services
from accounts.models import Organization
from accounts.roles import Role
from config.secret_files import read, read_or_create

SLUG = "demo"
OWNER = "owner@demo.example"
OPERATOR = "operator@demo.example"

Step = Callable[[Organization], None]
_STEPS: list[Step] = []


def register_step(step: Step) -> None:
    """Let `step` add to the demo; apps call this from their `ready()`.

    Args:
        step: takes the organization and leaves what is there already. It runs at every start, after the steps that
            were registered before it.
    """
    _STEPS.append(step)


def prepare() -> Organization | None:
    """The demo's organization, with what all steps add to it. None in an installation with others: it is left alone."""
    organization = Organization.objects.filter(slug=SLUG).first()
    if organization is None and Organization.objects.exists():
        return None
    organization = organization or _create()
    for step in _STEPS:
        step(organization)
    return organization


def _create() -> Organization:
    organization = services.create_organization(
        name="Demo Lender", slug=SLUG, owner_email=OWNER, actor=audit.COMMAND_LINE
    )
    services.add_member(caller=callers.command_line(organization.pk), email=OPERATOR, role=Role.APPROVER)
    return organization


def api_key(organization: Organization) -> str:
    """The demo's key, kept in a file so that every start can show it; a real key is shown once, to its user."""
    path = settings.DATA_DIR / "demo_api_key"
    if path.exists():
        return read(path).decode()
    _, token = services.create_api_key(caller=callers.command_line(organization.id), name="demo", role=Role.OWNER)
    return read_or_create(path, token.encode()).decode()
