import uuid
from dataclasses import dataclass

from accounts.audit import COMMAND_LINE, SYSTEM, Actor
from accounts.roles import Role

SECOND_FACTOR_OWED = (
    "Your organization asks owners and approvers for a second factor before they change anything. Sign in again at "
    "/sign-in/ to confirm with your app, then repeat this."
)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is asking, in which organization, with which role: what a service needs to know of a request.

    `member_id` is None for an API key. Who `owes_second_factor` is asked for it by the organization and has not proved
    it in this session: they may look, and act once they have.
    """

    organization_id: uuid.UUID
    role: Role
    actor: Actor
    member_id: int | None = None
    owes_second_factor: bool = False


def command_line(organization_id: uuid.UUID) -> Caller:
    """An administrator at the command line, who acts for an organization."""
    return Caller(organization_id, Role.OWNER, COMMAND_LINE)


def system(organization_id: uuid.UUID) -> Caller:
    """The service itself, which acts for an organization."""
    return Caller(organization_id, Role.OWNER, SYSTEM)
