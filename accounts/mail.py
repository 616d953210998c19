"""Mail, sent by a worker and not by the request: the worker claims a waiting row, makes its secret and sends it.

So the secret exists only in the mail, not in a queue, a task argument or a log.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from smtplib import SMTPException, SMTPRecipientsRefused
from typing import Any, NamedTuple, TypeVar

import structlog
from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.db import transaction
from django.db.models import QuerySet
from django.template.loader import render_to_string
from django.utils import timezone

from config import leases
from config.errors import DomainError
from config.leases import Leased, LeaseLost
from config.periodic import SLICE_SECONDS
from config.rests import Rests

log = structlog.get_logger("mail")

Row = TypeVar("Row", bound=Leased)

LEASE = timedelta(minutes=1)
"""Longer than any single step of a mail. The sender renews it between steps."""
_NO_MAILBOX = (550, 551, 553)
_rests = Rests()


class Undeliverable(SMTPException):
    """The mail server will never take a mail for this address, so a retry is useless."""


class Outcome(NamedTuple):
    """The result of one mail: whether it went out, and what to store in the same transaction."""

    sent: bool
    record: Callable[[], None] = lambda: None


NOT_SENT = Outcome(sent=False)
"""The mail is no longer needed."""


def deliver(waiting: QuerySet[Row], send_one: Callable[[Row], Outcome], *, owner: str = "") -> int:
    """Send the mails of waiting rows (`handled_at` empty). Return how many went out.

    A refused mail is retried with growing delays. After a slice, the rows that still wait are left to the next call.

    Args:
        send_one: renews the lease before it sends, so that no second worker sends the same mail.
        owner: name of the field that leads from a row to its organization, if organizations take turns.
    """
    unsent = waiting.filter(handled_at=None)
    if owner:
        claimed = _rests.claim_each(unsent, owner=owner, lasts=LEASE, seconds=SLICE_SECONDS)
    else:
        claimed = leases.claim_each(unsent, lasts=LEASE, seconds=SLICE_SECONDS)
    return sum(_deliver_one(row, send_one) for row in claimed)


def _deliver_one(row: Row, send_one: Callable[[Row], Outcome]) -> bool:
    try:
        outcome = send_one(row)
        with transaction.atomic():
            outcome.record()
            leases.complete(row, handled_at=timezone.now())
    except LeaseLost:
        log.warning("another worker has taken this mail over", row=row.pk)
        return False
    except (OSError, SMTPException, ValueError, DomainError) as error:  # ValueError: an address that cannot be written
        log.warning("mail not taken", row=row.pk, exc_info=error)
        with suppress(LeaseLost):
            leases.fail(row)
        return False
    return outcome.sent


def send(
    template: str,
    *,
    to: str,
    subject: str,
    context: dict[str, Any],
    attachments: Sequence[tuple[str, bytes, str]] = (),
) -> None:
    """Send one mail, as plain text and as HTML without remote content.

    Args:
        attachments: files, each as name, content and media type.

    Raises:
        Undeliverable: the mail server refuses the address for good.
        OSError, SMTPException: the mail server does not take the mail now.
        ValueError: the address cannot be written into a mail.
    """
    shown = {"subject": subject, "base_url": settings.BASE_URL, **context}
    text = render_to_string(f"mail/{template}.txt", shown)
    message = EmailMultiAlternatives(subject, text, to=[to], attachments=attachments)
    message.attach_alternative(render_to_string(f"mail/{template}.html", shown), "text/html")
    try:
        message.send()
    except SMTPRecipientsRefused as refused:
        if all(_is_for_good(code, text) for code, text in refused.recipients.values()):
            raise Undeliverable("the mail server refuses the address") from refused
        raise


def _is_for_good(code: int, text: bytes) -> bool:
    """Whether there is no such mailbox (RFC 5321, 4.2.3).

    A server that refuses all our mail answers with other codes, or with a text that begins with 5.7 (RFC 3463). The
    operator fixes that, and then the mail goes out.
    """
    return code in _NO_MAILBOX and not text.startswith(b"5.7.")
