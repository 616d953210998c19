"""One-time codes, which prove that an email address belongs to a person.

No request depends on whether the address has an account: a request for a code inserts one row, and a try at a code
updates one. `deliver_codes` and `note_refusals` do the rest in a worker: they look for the account, make and send the
code, and write to the audit trail. So neither answers nor timing reveal an account.

A code works only in the browser that requested it. Tries of strangers count for their own network address, so that they
use up no one else's codes. THREAT_MODEL.md has the arithmetic.
"""

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

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
"""Wrong codes for one email address, from one network address or from one known browser."""
STRANGERS_PER_HOUR = 100
"""Codes for one email address, requested by all unknown browsers together."""
STRANGERS_TRIES_PER_DAY = 100
"""Wrong codes for one email address, from all unknown browsers together."""
APP_TRIES_PER_DAY = 50
"""Wrong codes of a person's app, from all browsers together: each sender of them can read that person's mail."""
BROWSER_KNOWN = timedelta(days=90)
"""Time for which a browser stays known for an address after a right code."""
_BROWSER = "accounts.OneTimeCode.browser"
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
_EMAIL_LENGTH = 254  # RFC 5321; no address is longer, so a shortened one matches no account


class TooManyRequests(DomainError):
    """The sender has used up the codes of this hour, or the wrong tries of this day."""

    code = "too_many_requests"
    status = 429
    sentence = "Too many codes were requested. Wait, then try again."


class CodeRefused(DomainError):
    """The code is wrong, used, too old, tried too often or another browser's. The answer does not say which."""

    code = "code_refused"
    status = 401
    sentence = "This code is wrong or no longer valid. Request a new one."


class NoPendingSignIn(DomainError):
    """No mailed code of this session waits for the second factor, or it no longer does."""

    code = "nobody_waiting"
    status = 401
    sentence = "No sign-in waits for confirmation here. Begin with an emailed code."


def request_code(*, email: str, intent: str, client: str, browser: str, invite: Invite | None = None) -> None:
    """Request a code by mail. It voids the earlier codes of this browser.

    Args:
        client: the network address of the request.
        browser: the secret in the browser's cookie.
        invite: the invitation that the code accepts. With it, the code is mailed even to an address without an account.

    Raises:
        TooManyRequests
    """
    email = email.lower()[:_EMAIL_LENGTH]
    with transaction.atomic():
        db.lock(f"codes for {email}", f"codes from {client}")  # otherwise simultaneous requests would pass the limits
        row = OneTimeCode(
            email=email,
            intent=intent,
            client=client,
            browser=token_hashing.digest(_BROWSER, browser),
            known=_is_known(email, browser),
            expires_at=timezone.now() + LIFETIME,
            invite=invite,
        )
        if not row.known:
            limit, strangers = (
                settings.CODES_PER_HOUR_AND_CLIENT,
                OneTimeCode.objects.filter(client=client, known=False),
            )
            _check_limit(_request_times(strangers, limit), limit, _HOUR)
        for share in _shares(row):
            _check_limit(_request_times(share.rows, share.codes), share.codes, _HOUR)
            _check_limit(_miss_times(share.rows, share.tries), share.tries, _DAY)
        row.save()
        wake("accounts.tasks.deliver_mail")


def verify_code(*, email: str, code: str, browser: str) -> OneTimeCode:
    """Use up a code and return its request. `codes.owner` returns the person.

    Raises:
        CodeRefused
    """
    email = email.lower()[:_EMAIL_LENGTH]
    with transaction.atomic():
        db.lock(f"codes for {email}")  # otherwise simultaneous tries would pass the limits
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
    """Count a try at the second factor, before the comparison. Raises NoPendingSignIn: there were too many."""
    with transaction.atomic():
        db.lock(f"codes for {code.email}")
        recent = OneTimeCode.objects.filter(email=code.email, created_at__gt=timezone.now() - _DAY)
        tried = sum(recent.filter(app_tries__gt=0).values_list("app_tries", flat=True))
        row = OneTimeCode.objects.filter(pk=code.pk, app_tries__lt=TRIES)
        if tried >= APP_TRIES_PER_DAY or not row.update(app_tries=F("app_tries") + 1):
            raise NoPendingSignIn


def owner(code: OneTimeCode) -> User | None:
    """Return the person of a verified code, or None if their account is gone or closed."""
    return db.only(User.objects.filter(email=code.email, is_active=True))


def deliver_codes() -> int:
    """Make and send the requested codes for addresses with an account or invitation. Return how many were sent."""
    return mail.deliver(OneTimeCode.objects.filter(expires_at__gt=timezone.now()), _send)


def note_refusals() -> None:
    """Record wrong codes in the audit trail, and delete the requests that no limit and no known browser needs."""
    now = timezone.now()
    for row in OneTimeCode.objects.filter(tries__gt=F("tries_noted")):
        with transaction.atomic():
            fresh = OneTimeCode.objects.filter(pk=row.pk, tries_noted=row.tries_noted).update(tries_noted=row.tries)
            if fresh:
                _audit("sign_in.refused", row, tries=row.tries - row.tries_noted)
    OneTimeCode.objects.filter(created_at__lt=now - _DAY, used_at=None).delete()
    OneTimeCode.objects.filter(created_at__lt=now - BROWSER_KNOWN).delete()


class _Share(NamedTuple):
    """Requests that count together, with their limits: codes per hour and wrong tries per day."""

    rows: QuerySet[OneTimeCode]
    codes: int
    tries: int


def _shares(request: OneTimeCode) -> list[_Share]:
    """Return the shares a request counts for. A known browser has a separate share, which no stranger can use up."""
    rows = OneTimeCode.objects.filter(email=request.email, known=request.known)
    if request.known:
        return [_Share(rows.filter(browser=request.browser), settings.CODES_PER_HOUR, TRIES_PER_DAY)]
    return [
        _Share(rows.filter(client=request.client), settings.CODES_PER_HOUR, TRIES_PER_DAY),
        _Share(rows, STRANGERS_PER_HOUR, STRANGERS_TRIES_PER_DAY),
    ]


def _request_times(rows: QuerySet[OneTimeCode], limit: int) -> list[datetime]:
    """Return the times of the last hour's requests, newest first, at most `limit`."""
    recent = rows.filter(created_at__gt=timezone.now() - _HOUR).order_by("-created_at")
    return list(recent.values_list("created_at", flat=True)[:limit])


def _miss_times(rows: QuerySet[OneTimeCode], limit: int) -> list[datetime]:
    """Return the request time of each wrong try of the last day, newest first."""
    recent = rows.filter(created_at__gt=timezone.now() - _DAY, tries__gt=0).order_by("-created_at")
    return [time for time, tries in recent.values_list("created_at", "tries")[:limit] for _ in range(tries)]


def _is_known(email: str, browser: str) -> bool:
    """Whether this browser has given a right code of this address."""
    used = OneTimeCode.objects.filter(email=email, used_at__gt=timezone.now() - BROWSER_KNOWN)
    return used.filter(browser__in=token_hashing.possible(_BROWSER, browser)).exists()


def _may_be_tried(code: OneTimeCode) -> bool:
    if code.used_at or code.tries >= TRIES or code.expires_at <= timezone.now():
        return False
    return all(len(_miss_times(share.rows, share.tries)) < share.tries for share in _shares(code))


def _check_limit(times: Sequence[datetime], limit: int, window: timedelta) -> None:
    """Raise TooManyRequests if there are `limit` times already, newest first."""
    if len(times) >= limit:
        raise TooManyRequests(retry_after=int((times[limit - 1] + window - timezone.now()).total_seconds()) + 1)


def _send(row: OneTimeCode) -> mail.Outcome:
    if not _is_awaited(row):
        return mail.NOT_SENT
    code = f"{secrets.randbelow(10**DIGITS):0{DIGITS}}"
    leases.renew(row, lasts=mail.LEASE, digest=token_hashing.digest(PURPOSE, f"{row.pk}:{code}"))
    joins = " ".join(row.invite.organization.name.split()) if row.invite else ""  # a name may have line breaks
    subject = _("Your code to join %(organization)s") % {"organization": joins} if joins else _("Your sign-in code")
    mail.send("one_time_code", to=row.email, subject=subject, context={"code": code, "joins": joins})
    return mail.Outcome(sent=True, record=lambda: _audit("sign_in.code_sent", row))


def _is_awaited(row: OneTimeCode) -> bool:
    """Whether the address has an account that may sign in, or none yet and the invitation is open."""
    user = db.only(User.objects.filter(email=row.email))
    if user:
        return user.is_active
    return row.invite is not None and row.invite.status == "open"


def _audit(verb: str, row: OneTimeCode, **detail: int) -> None:
    """Append an event in every organization that has a member with this address."""
    for user in User.objects.filter(email=row.email):
        actor = Actor("unknown", "", "a visitor of the sign-in page")
        for member in user.memberships.all():
            audit.record(
                verb,
                actor=actor,
                organization_id=member.organization_id,
                object_kind="member",
                object_id=member.pk,
                **detail,
            )
