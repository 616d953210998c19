"""One-time codes: how a person proves that a mail address is theirs.

Nothing that happens within a request depends on whether the address has an account: a request for a code inserts one
row, a try at a code updates one. Looking for the account, making the code, sending it and telling the audit trail are
the work of `deliver_codes` and `note_refusals`, which run off the request. So neither answers nor timing tell.
"""

import secrets
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts import audit, digests, mail
from accounts.audit import Actor
from accounts.models import OneTimeCode, User
from config import db
from config.celery import wake

PURPOSE = "accounts.OneTimeCode"
DIGITS = 6
LIFETIME = timedelta(minutes=10)
TRIES = 5
_HOUR = timedelta(hours=1)
_KEEP = timedelta(days=1)
_EMAIL_LENGTH = 254  # RFC 5321; nobody's address is longer, so cutting one off finds nobody


class TooManyRequests(Exception):
    """Too many codes were asked for. `retry_after` is in seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("too many codes were asked for")
        self.retry_after = retry_after


class CodeRefused(Exception):
    """The code is wrong, used, too old or tried too often: which of them is not said."""


def request_code(*, email: str, intent: str, client: str) -> None:
    """Ask for a code to be mailed; a new one voids those before it.

    Args:
        client: network address of whoever asks.

    Raises:
        TooManyRequests: this mail address, or this client, had its codes for this hour.
    """
    email = email.lower()[:_EMAIL_LENGTH]
    with transaction.atomic():
        db.lock(f"codes for {email}", f"codes from {client}")  # or requests sent at once would outrun the limits
        _limit(settings.CODES_PER_HOUR, email=email)
        _limit(settings.CODES_PER_HOUR_AND_CLIENT, client=client)
        OneTimeCode.objects.create(email=email, intent=intent, client=client, expires_at=timezone.now() + LIFETIME)
        wake("accounts.tasks.deliver_mail")


def verify_code(*, email: str, code: str) -> OneTimeCode:
    """The request that this code answers. A code works once; `codes.owner` says whose it is.

    Raises:
        CodeRefused
    """
    newest = OneTimeCode.objects.filter(email=email.lower()[:_EMAIL_LENGTH]).order_by("-pk").first()
    if newest is None:
        raise CodeRefused
    # Counted before it is compared, so that tries sent at once cannot outrun the limit.
    live = OneTimeCode.objects.filter(pk=newest.pk, used_at=None, tries__lt=TRIES, expires_at__gt=timezone.now())
    counted = live.update(tries=F("tries") + 1)
    genuine = digests.matches(PURPOSE, f"{newest.pk}:{code}", newest.digest or digests.ABSENT)
    if not (counted and genuine):
        raise CodeRefused
    if not OneTimeCode.objects.filter(pk=newest.pk, used_at=None).update(used_at=timezone.now(), tries=F("tries") - 1):
        raise CodeRefused
    return newest


def owner(code: OneTimeCode) -> User:
    """The person a verified code belongs to. Raises CodeRefused if they are gone meanwhile."""
    found = User.objects.filter(email=code.email, is_active=True).first()
    if found is None:
        raise CodeRefused
    return found


def deliver_codes() -> int:
    """Make and send the codes that were asked for, where somebody has the address. Returns how many were sent."""
    return mail.deliver(OneTimeCode.objects.filter(expires_at__gt=timezone.now()), _send)


def note_refusals() -> None:
    """Tell the audit trail of wrong codes, and forget requests older than a day."""
    now = timezone.now()
    for row in OneTimeCode.objects.filter(tries__gt=F("tries_noted")):
        with transaction.atomic():
            fresh = OneTimeCode.objects.filter(pk=row.pk, tries_noted=row.tries_noted).update(tries_noted=row.tries)
            if fresh:
                _audit("sign_in.refused", row, tries=row.tries - row.tries_noted)
    OneTimeCode.objects.filter(created_at__lt=now - _KEEP).delete()


def _limit(most: int, **whose: str) -> None:
    now = timezone.now()
    recent = OneTimeCode.objects.filter(created_at__gt=now - _HOUR, **whose).order_by("-created_at")
    times = list(recent.values_list("created_at", flat=True)[:most])
    if len(times) >= most:
        raise TooManyRequests(int((times[-1] + _HOUR - now).total_seconds()) + 1)


def _send(row: OneTimeCode) -> bool:
    if not User.objects.filter(email=row.email, is_active=True).exists():
        return False
    code = f"{secrets.randbelow(10**DIGITS):0{DIGITS}}"
    row.digest = digests.digest(PURPOSE, f"{row.pk}:{code}")
    row.save(update_fields=["digest"])
    mail.send("one_time_code", to=row.email, subject="Your sign-in code", context={"code": code})
    _audit("sign_in.code_sent", row)
    return True


def _audit(verb: str, row: OneTimeCode, **detail: int) -> None:
    """One event in every organization whose member's address this is."""
    for user in User.objects.filter(email=row.email):
        actor = Actor("unknown", "", "whoever used the sign-in page")
        for member in user.memberships.all():
            audit.record(
                verb,
                actor=actor,
                organization_id=member.organization_id,
                object_kind="member",
                object_id=member.pk,
                **detail,
            )
