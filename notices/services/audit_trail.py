"""The audit trail of notices."""

from typing import Any

from accounts import audit
from accounts.audit import Actor
from notices.models import Notice


def record(verb: str, notice: Notice, actor: Actor, **detail: Any) -> None:
    """Append a change of a notice. Call it within the transaction of the change.

    Args:
        detail: nothing private.
    """
    audit.record(
        verb,
        actor=actor,
        organization_id=notice.organization_id,
        object_kind="notice",
        object_id=notice.pk,
        **detail,
    )
