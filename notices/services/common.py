"""What the services of notices share: the refusal by a rule, and the audit trail's line."""

from typing import Any

from accounts import audit
from accounts.audit import Actor
from config.errors import DomainError
from notices.models import Notice, NoticeRevision


class Refused(DomainError):
    """A rule forbids it. The message is the reason, for the person."""


def require_seen(current: NoticeRevision, seen: int | None) -> None:
    """Nobody edits or decides about words they have not seen. Raises Refused.

    Args:
        seen: the number of the revision that they looked at; None if they do not say.
    """
    if seen is not None and seen != current.number:
        raise Refused(f"The notice has changed since you opened it: it is at revision {current.number}.")


def mail_waits(notice: Notice) -> bool:
    """Whether a mail of its letter was asked for and has not gone out."""
    return notice.deliveries.filter(handled_at=None, delivered_at=None).exists()


def note(verb: str, notice: Notice, actor: Actor, **detail: Any) -> None:
    """Append it. Call within the transaction of the change; `detail` holds nothing private."""
    audit.record(
        verb,
        actor=actor,
        organization_id=notice.organization_id,
        object_kind="notice",
        object_id=notice.pk,
        **detail,
    )
