"""Mail goes out off the request: a row waits, a worker claims it, makes its secret and sends it.

The secret is made as late as that so that it is in no queue, no task argument and no log, only in the mail.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from smtplib import SMTPException, SMTPRecipientsRefused
from typing import Any, TypeVar

import structlog
from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.db import transaction
from django.db.models import Model, Q, QuerySet
from django.template.loader import render_to_string
from django.utils import timezone

from config.faults import Fault

log = structlog.get_logger("mail")

Row = TypeVar("Row", bound=Model)

_LEASE = timedelta(minutes=1)
_BATCH = 50
_NO_MAILBOX = (550, 551, 553)


class Undeliverable(SMTPException):
    """The mail server will never take a mail for this address: trying again is of no use."""


def deliver(waiting: QuerySet[Row], send_one: Callable[[Row], bool]) -> int:
    """Send the mails of waiting rows (`handled_at` empty). Returns how many went out.

    A mail that the server does not take keeps its row waiting and is tried again after a minute.
    """
    sent = 0
    for _ in range(_BATCH):
        row = _claim(waiting)
        if row is None:
            break
        try:
            sent += send_one(row)
        except (OSError, SMTPException, ValueError, Fault) as error:  # ValueError: an address that cannot be written
            log.warning("mail not taken", row=row.pk, exc_info=error)
        else:
            waiting.model._default_manager.filter(pk=row.pk).update(handled_at=timezone.now())
    return sent


def _claim(waiting: QuerySet[Row]) -> Row | None:
    """A row that is this worker's for a minute, so that no second one sends the same mail.

    One at a time: of a batch, the last would wait for the others longer than its minute.
    """
    now = timezone.now()
    with transaction.atomic():
        free = waiting.filter(Q(claimed_until=None) | Q(claimed_until__lt=now), handled_at=None)
        row = free.order_by("pk").select_for_update(skip_locked=True).first()
        if row is not None:
            waiting.model._default_manager.filter(pk=row.pk).update(claimed_until=now + _LEASE)
    return row


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
        OSError, SMTPException: it does not take the mail now.
        ValueError: no mail can be written to this address.
    """
    shown = {"subject": subject, "base_url": settings.BASE_URL, **context}
    text = render_to_string(f"mail/{template}.txt", shown)
    message = EmailMultiAlternatives(subject, text, to=[to], attachments=attachments)
    message.attach_alternative(render_to_string(f"mail/{template}.html", shown), "text/html")
    try:
        message.send()
    except SMTPRecipientsRefused as refused:
        if all(_is_for_good(code, said) for code, said in refused.recipients.values()):
            raise Undeliverable("the mail server refuses the address") from refused
        raise


def _is_for_good(code: int, said: bytes) -> bool:
    """Whether there is no such mailbox (RFC 5321, 4.2.3). A server that wants no mail of ours at all refuses with other
    codes, or with 5.7 before its words (RFC 3463): that is for the operator to mend, and then the mail goes out."""
    return code in _NO_MAILBOX and not said.startswith(b"5.7.")
