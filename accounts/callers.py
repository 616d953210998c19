import uuid
from dataclasses import dataclass

from accounts.audit import Actor
from accounts.roles import Role


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is asking, in which organization, with which role: what a service needs to know of a request.

    `member_id` is None for an API key.
    """

    organization_id: uuid.UUID
    role: Role
    actor: Actor
    member_id: int | None = None
