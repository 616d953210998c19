import structlog

from accounts import audit_seals, idempotency
from accounts.audit_seals import SealsDisagree
from accounts.services import codes, guards, invites, sessions
from config.periodic import periodic

log = structlog.get_logger("accounts")


@periodic(10, queue="mail")
def deliver_mail() -> None:
    """Send waiting mail. The request that queued it wakes this task; the clock catches a missed wake-up."""
    codes.deliver_codes()
    invites.deliver_invites()
    guards.send_loosenings()
    codes.note_refusals()
    sessions.end_stale()


@periodic(600)
def forget_answers() -> None:
    """Delete the stored answers that are too old to repeat."""
    idempotency.forget_old()


@periodic(600)
def seal_audit_trail() -> None:
    """Seal the audit events that are older than an hour."""
    try:
        audit_seals.seal_events()
    except SealsDisagree as error:
        log.error("the audit trail is not sealed", reason=str(error))
