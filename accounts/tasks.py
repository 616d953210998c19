from celery import shared_task

from accounts import idempotency
from accounts.services import codes, invites, sessions


@shared_task(name="accounts.tasks.deliver_mail")
def deliver_mail() -> None:
    """Send what waits. Woken by the request that made it wait, and by beat for what that wake-up missed."""
    codes.deliver_codes()
    invites.deliver_invites()
    codes.note_refusals()
    sessions.end_stale()


@shared_task(name="accounts.tasks.forget_answers")
def forget_answers() -> None:
    """Delete the kept answers that are too old to be given again."""
    idempotency.forget_old()
