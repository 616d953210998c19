"""Writing the audit trail. Services call `record` inside the transaction of the change it tells of."""

import uuid
from dataclasses import dataclass
from typing import Any

from accounts.models import AuditEvent


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts: `kind` is member, key or system; `id` is stable, `label` is for people."""

    kind: str
    id: str
    label: str

    def __str__(self) -> str:
        return f"{self.kind} {self.label}"[:300]  # as long as the columns that keep it


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
    """Append one event. `detail` holds JSON values that are not private: states, counts, roles."""
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
