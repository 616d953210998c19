from accounts import audit_seals, idempotency
from accounts.services import codes, guards, invites, sessions
from config.periodic import periodic


@periodic(10, queue="mail")
def deliver_mail() -> None:
    """Send what waits. Woken by the request that made it wait, and by the clock for what that wake-up missed."""
    codes.deliver_codes()
    invites.deliver_invites()
    guards.send_loosenings()
    codes.note_refusals()
    sessions.end_stale()


@periodic(600)
def forget_answers() -> None:
    """Delete the kept answers that are too old to be given again."""
    idempotency.forget_old()


@periodic(600)
def seal_audit_trail() -> None:
    """Seal the audit events of more than an hour ago."""
    audit_seals.seal_events()
