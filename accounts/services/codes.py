"""One-time codes: how a person proves that a mail address is theirs.

Nothing that happens within a request depends on whether the address has an account: a request for a code inserts one
row, a try at a code updates one. Looking for the account, making the code, sending it and telling the audit trail are
the work of `deliver_codes` and `note_refusals`, which run off the request. So neither answers nor timing tell.

A code works in the browser that asked for it, and nowhere else. What strangers do is counted for their own network
address, so that it costs nobody else a code. THREAT_MODEL.md has the arithmetic.
"""

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from accounts import audit, mail, token_hashing
from accounts.audit import Actor
from accounts.models import Invite, OneTimeCode, User
from config import db, leases
from config.celery import wake
from config.errors import DomainError

PURPOSE = "accounts.OneTimeCode"
DIGITS = 6
LIFETIME = timedelta(minutes=10)
TRIES = 5
TRIES_PER_DAY = 20
"""Wrong codes for one mail address, from one network address or from one known browser."""
STRANGERS_PER_HOUR = 100
"""Codes for one mail address, asked for by all browsers together that are not known."""
STRANGERS_TRIES_PER_DAY = 100
"""Wrong codes for one mail address, from all browsers together that are not known."""
APP_TRIES_PER_DAY = 50
"""Wrong codes of a person's app, wherever they come from: whoever sends them reads that person's mail."""
BROWSER_KNOWN = timedelta(days=90)
"""How long a browser that gave an address's right code is known for that address."""
_BROWSER = "accounts.OneTimeCode.browser"
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
_EMAIL_LENGTH = 254  # RFC 5321; nobody's address is longer, so cutting one off finds nobody


class TooManyRequests(DomainError):
    """Whoever asks had their codes for this hour, or their wrong tries for this day."""

    code = "too_many_requests"
    status = 429
    sentence = "Too many codes were asked for. Wait, then ask again."


class CodeRefused(DomainError):
    """The code is wrong, used, too old, tried too often or another browser's: which of them is not said."""

    code = "code_refused"
    status = 401
    sentence = "This code is not right, or not valid any more. Ask for a new one."


class NobodyWaiting(DomainError):
    """No mailed code of this session waits for the second factor, or not any more."""

    code = "nobody_waiting"
    status = 401
    sentence = "Nobody is waiting to confirm here. Begin with a mailed code."


def request_code(*, email: str, intent: str, client: str, browser: str, invite: Invite | None = None) -> None:
    """Ask for a code to be mailed; a new one voids those that this browser asked for before.

    Args:
        client: network address of whoever asks.
        browser: the secret in that browser's cookie.
        invite: the invitation that the code accepts. It is mailed then whether or not the address has an account.

    Raises:
        TooManyRequests
    """
    email = email.lower()[:_EMAIL_LENGTH]
    with transaction.atomic():
        db.lock(f"codes for {email}", f"codes from {client}")  # or requests sent at once would outrun the limits
        asked = OneTimeCode(
            email=email,
            intent=intent,
            client=client,
            browser=token_hashing.digest(_BROWSER, browser),
            known=_is_known(email, browser),
            expires_at=timezone.now() + LIFETIME,
            invite=invite,
        )
        if not asked.known:
            most, strangers = settings.CODES_PER_HOUR_AND_CLIENT, OneTimeCode.objects.filter(client=client, known=False)
            _limit(_times_asked(strangers, most), most, _HOUR)
        for share in _shares(asked):
            _limit(_times_asked(share.rows, share.codes), share.codes, _HOUR)
            _limit(_times_missed(share.rows, share.tries), share.tries, _DAY)
        asked.save()
        wake("accounts.tasks.deliver_mail")


def verify_code(*, email: str, code: str, browser: str) -> OneTimeCode:
    """The request that this code answers. A code works once; `codes.owner` says whose it is.

    Raises:
        CodeRefused
    """
    email = email.lower()[:_EMAIL_LENGTH]
    with transaction.atomic():
        db.lock(f"codes for {email}")  # or tries sent at once would outrun the limits
        row = OneTimeCode.objects.filter(email=email, browser__in=token_hashing.possible(_BROWSER, browser)).last()
        if row is None or not _may_be_tried(row):
            raise CodeRefused
        genuine = token_hashing.matches(PURPOSE, f"{row.pk}:{code}", row.digest or token_hashing.ABSENT)
        if genuine:
            row.used_at = timezone.now()
        else:
            row.tries += 1
        row.save(update_fields=["used_at", "tries"])
    if not genuine:
        raise CodeRefused
    return row


def count_app_try(code: OneTimeCode) -> None:
    """Count a try at the second factor, before it is compared. Raises NobodyWaiting if there were too many."""
    with transaction.atomic():
        db.lock(f"codes for {code.email}")
        recent = OneTimeCode.objects.filter(email=code.email, created_at__gt=timezone.now() - _DAY)
        tried = sum(recent.filter(app_tries__gt=0).values_list("app_tries", flat=True))
        row = OneTimeCode.objects.filter(pk=code.pk, app_tries__lt=TRIES)
        if tried >= APP_TRIES_PER_DAY or not row.update(app_tries=F("app_tries") + 1):
            raise NobodyWaiting


def owner(code: OneTimeCode) -> User | None:
    """The person a verified code belongs to, unless they are gone meanwhile."""
    return db.only(User.objects.filter(email=code.email, is_active=True))


def deliver_codes() -> int:
    """Make and send the codes that were asked for, where somebody has the address. Returns how many were sent."""
    return mail.deliver(OneTimeCode.objects.filter(expires_at__gt=timezone.now()), _send)


def note_refusals() -> None:
    """Tell the audit trail of wrong codes, and forget the requests that no limit and no known browser rests on."""
    now = timezone.now()
    for row in OneTimeCode.objects.filter(tries__gt=F("tries_noted")):
        with transaction.atomic():
            fresh = OneTimeCode.objects.filter(pk=row.pk, tries_noted=row.tries_noted).update(tries_noted=row.tries)
            if fresh:
                _audit("sign_in.refused", row, tries=row.tries - row.tries_noted)
    OneTimeCode.objects.filter(created_at__lt=now - _DAY, used_at=None).delete()
    OneTimeCode.objects.filter(created_at__lt=now - BROWSER_KNOWN).delete()


class _Share(NamedTuple):
    """Requests that are counted together: how many codes they may ask for an hour, and miss a day."""

    rows: QuerySet[OneTimeCode]
    codes: int
    tries: int


def _shares(asked: OneTimeCode) -> list[_Share]:
    """Those that a request belongs to. A known browser has one of its own, so that no stranger can use it up."""
    rows = OneTimeCode.objects.filter(email=asked.email, known=asked.known)
    if asked.known:
        return [_Share(rows.filter(browser=asked.browser), settings.CODES_PER_HOUR, TRIES_PER_DAY)]
    return [
        _Share(rows.filter(client=asked.client), settings.CODES_PER_HOUR, TRIES_PER_DAY),
        _Share(rows, STRANGERS_PER_HOUR, STRANGERS_TRIES_PER_DAY),
    ]


def _times_asked(rows: QuerySet[OneTimeCode], most: int) -> list[datetime]:
    """When codes were asked for within the hour, newest first, and no more than matter."""
    recent = rows.filter(created_at__gt=timezone.now() - _HOUR).order_by("-created_at")
    return list(recent.values_list("created_at", flat=True)[:most])


def _times_missed(rows: QuerySet[OneTimeCode], most: int) -> list[datetime]:
    """When the codes of the day were asked for, once for each wrong try at them, newest first."""
    recent = rows.filter(created_at__gt=timezone.now() - _DAY, tries__gt=0).order_by("-created_at")
    return [asked for asked, tries in recent.values_list("created_at", "tries")[:most] for _ in range(tries)]


def _is_known(email: str, browser: str) -> bool:
    """Whether somebody gave the right code of this address in this browser."""
    used = OneTimeCode.objects.filter(email=email, used_at__gt=timezone.now() - BROWSER_KNOWN)
    return used.filter(browser__in=token_hashing.possible(_BROWSER, browser)).exists()


def _may_be_tried(code: OneTimeCode) -> bool:
    if code.used_at or code.tries >= TRIES or code.expires_at <= timezone.now():
        return False
    return all(len(_times_missed(share.rows, share.tries)) < share.tries for share in _shares(code))


def _limit(times: Sequence[datetime], most: int, window: timedelta) -> None:
    """Raises TooManyRequests if these were `most` already; newest first."""
    if len(times) >= most:
        raise TooManyRequests(retry_after=int((times[most - 1] + window - timezone.now()).total_seconds()) + 1)


def _send(row: OneTimeCode) -> mail.Outcome:
    if not _is_awaited(row):
        return mail.NOT_SENT
    code = f"{secrets.randbelow(10**DIGITS):0{DIGITS}}"
    leases.renew(row, lasts=mail.LEASE, digest=token_hashing.digest(PURPOSE, f"{row.pk}:{code}"))
    joins = " ".join(row.invite.organization.name.split()) if row.invite else ""  # a name may have line breaks
    subject = f"Your code to join {joins}" if joins else "Your sign-in code"
    mail.send("one_time_code", to=row.email, subject=subject, context={"code": code, "joins": joins})
    return mail.Outcome(sent=True, record=lambda: _audit("sign_in.code_sent", row))


def _is_awaited(row: OneTimeCode) -> bool:
    """Whether the address has an account that may sign in, or none yet and the invitation is open."""
    user = db.only(User.objects.filter(email=row.email))
    if user:
        return user.is_active
    return row.invite is not None and row.invite.status == "open"


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
