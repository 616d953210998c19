"""Guards of the audit trail and its seals."""

from accounts.models import AuditEvent, AuditSeal, AuditSealHead
from config.row_guards import Guard

_MOVES_ON = "NEW.last > OLD.last AND NEW.seals = OLD.seals + 1"

GUARDS = (
    Guard(AuditEvent, changes="true"),
    Guard(AuditSeal, changes="true"),
    Guard(
        AuditSealHead,
        changes=f"{{only}} OR NOT ({_MOVES_ON})",
        uses=("accounts_auditsealhead.last", "accounts_auditsealhead.seals"),
    ),
)
