"""Mail goes out off the request: a row waits, a worker claims it, makes its secret and sends it.

The secret is made as late as that so that it is in no queue, no task argument and no log, only in the mail.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from smtplib import SMTPException
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


def deliver(waiting: QuerySet[Row], send_one: Callable[[Row], bool]) -> int:
    """Send the mails of waiting rows (`handled_at` empty). Returns how many went out.

    A mail that the server does not take keeps its row waiting and is tried again after a minute.
    """
    sent = 0
    for row in _claim(waiting):
        try:
            sent += send_one(row)
        except (OSError, SMTPException, ValueError, Fault) as error:  # ValueError: an address that cannot be written
            log.warning("mail not taken", row=row.pk, exc_info=error)
        else:
            waiting.model._default_manager.filter(pk=row.pk).update(handled_at=timezone.now())
    return sent


def _claim(waiting: QuerySet[Row]) -> list[Row]:
    """Rows that are this worker's for a minute, so that no second one sends the same mail."""
    now = timezone.now()
    with transaction.atomic():
        free = waiting.filter(Q(claimed_until=None) | Q(claimed_until__lt=now), handled_at=None)
        claimed = list(free.order_by("pk").select_for_update(skip_locked=True)[:_BATCH])
        waiting.model._default_manager.filter(pk__in=[row.pk for row in claimed]).update(claimed_until=now + _LEASE)
    return claimed


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
        OSError, SMTPException: the mail server does not take it.
        ValueError: no mail can be written to this address.
    """
    shown = {"subject": subject, "base_url": settings.BASE_URL, **context}
    text = render_to_string(f"mail/{template}.txt", shown)
    message = EmailMultiAlternatives(subject, text, to=[to], attachments=attachments)
    message.attach_alternative(render_to_string(f"mail/{template}.html", shown), "text/html")
    message.send()
