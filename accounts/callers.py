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
    """Who is asking, in which organization, with which role: what a service needs to know of a request.

    Attributes:
        member_id: None for an API key.
        owes_second_factor: the organization asks this member for it, and their session has not proved it: they may
            look, and act once they have.
        has_second_factor: this session proved it, whether or not the organization asks. Never true of a key.
    """

    organization_id: uuid.UUID
    role: Role
    actor: Actor
    member_id: int | None = None
    owes_second_factor: bool = False
    has_second_factor: bool = False


def command_line(organization_id: uuid.UUID) -> Caller:
    """An administrator at the command line, who acts for an organization."""
    return Caller(organization_id, Role.OWNER, COMMAND_LINE)


def system(organization_id: uuid.UUID) -> Caller:
    """The service itself, which acts for an organization."""
    return Caller(organization_id, Role.OWNER, SYSTEM)
