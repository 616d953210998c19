"""The demo of `make run`: an organization and its people. Each app adds sample data."""

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
        step: takes the organization and keeps existing rows. It runs at every start, in the order of registration.
    """
    _STEPS.append(step)


def prepare() -> Organization | None:
    """Create the demo's organization if needed, run all steps, and return it. None if other organizations exist."""
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
    """Return the demo's key from its file, or create it. Unlike a real key, every start shows it."""
    path = settings.DATA_DIR / "demo_api_key"
    if path.exists():
        return read(path).decode()
    _, token = services.create_api_key(caller=callers.command_line(organization.id), name="demo", role=Role.OWNER)
    return read_or_create(path, token.encode()).decode()
