import uuid
from dataclasses import dataclass

from accounts.audit import COMMAND_LINE, SYSTEM, Actor
from accounts.roles import Role

SECOND_FACTOR_OWED = (
    "Your organization asks your role for a second factor before you change anything. Sign in again at /sign-in/ to "
    "confirm with your app, then repeat this."
)


@dataclass(frozen=True, slots=True)
class Caller:
    """The actor of a request, with their organization and role: all that a service needs to know of a request.

    Attributes:
        member_id: None for an API key.
        owes_second_factor: the organization asks this member for a second factor, and their session has not proved it.
            Until then, they may only read.
        has_second_factor: this session proved it, whether or not the organization asks. Always False for a key.
    """

    organization_id: uuid.UUID
    role: Role
    actor: Actor
    member_id: int | None = None
    owes_second_factor: bool = False
    has_second_factor: bool = False


def command_line(organization_id: uuid.UUID) -> Caller:
    """Return the caller for an administrator who acts for an organization at the command line."""
    return Caller(organization_id, Role.OWNER, COMMAND_LINE)


def system(organization_id: uuid.UUID) -> Caller:
    """Return the caller for the service itself, acting for an organization."""
    return Caller(organization_id, Role.OWNER, SYSTEM)
