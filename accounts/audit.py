"""The audit trail. A service calls `record` inside the transaction of the change."""

import uuid
from dataclasses import dataclass
from typing import Any

from accounts.models import AuditEvent


@dataclass(frozen=True, slots=True)
class Actor:
    """The member, key or system that acts. `kind` says which, `id` is stable, and `label` is for people."""

    kind: str
    id: str
    label: str

    def __str__(self) -> str:
        return f"{self.kind} {self.label}"[:300]  # the length of the columns that store it


SYSTEM = Actor("system", "system", "the service itself")
COMMAND_LINE = Actor("system", "command-line", "an administrator at the command line")


def record(
    verb: str,
    *,
    actor: Actor,
    organization_id: uuid.UUID | None,
    object_kind: str,
    object_id: object,
    **detail: Any,
) -> None:
    """Append one event. `detail` holds JSON values without private data: states, counts, roles."""
    AuditEvent.objects.create(
        organization_id=organization_id,
        verb=verb,
        actor_kind=actor.kind,
        actor_id=actor.id,
        actor_label=actor.label,
        object_kind=object_kind,
        object_id=str(object_id),
        detail=detail,
    )
