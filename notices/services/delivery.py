"""Deliveries of approved notices: recorded as they happened, and letters sent by mail."""

import hashlib
from datetime import datetime

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from accounts import audit, mail
from accounts.callers import Caller
from config import leases
from config.celery import wake
from notices import letters, mails, selectors
from notices.models import Delivery, Notice
from notices.services.common import Refused, mail_waits, note

State = Notice.State


def deliver(
    *,
    notice: Notice,
    channel: Delivery.Channel,
    caller: Caller,
    address: str = "",
    reference: str = "",
    delivered_at: datetime | None = None,
) -> Delivery:
    """Record that an approved notice was delivered, or have its letter mailed.

    Args:
        address: the address used; for a mail, the recipient's `email` if it is left out.
        reference: the provider's, such as a tracking number.
        delivered_at: when, for other channels than mail; now if it is left out.

    Raises:
        Refused: with the reason.
        Fault: the letter cannot be mailed as PDF.
    """
    now = timezone.now()
    with transaction.atomic():
        locked = Notice.objects.select_for_update(of=("self",)).select_related("approval__revision").get(pk=notice.pk)
        if locked.state not in Notice.FINISHED:
            raise Refused(f"{locked.standing} Only an approved one is delivered.")
        if channel == Delivery.Channel.EMAIL:
            if mail_waits(locked):
                raise Refused("A mail of this letter waits to go out already.")
            letters.require_fits(locked.approval.revision.content)
            if too_long := letters.recipient.problem(locked.recipient):
                raise Refused(too_long)
            made = Delivery(address=_mail_address(locked, address))
        else:
            moment = delivered_at or now
            if not locked.approval.created_at <= moment <= now:
                raise Refused("The time of a delivery cannot be before the approval of the notice, nor in the future.")
            made = Delivery(address=address, handled_at=now, delivered_at=moment)
        made.notice, made.channel, made.reference = locked, channel, reference
        made.recorded_by = str(caller.actor)
        made.save()
        note("notice.delivery_recorded", locked, caller.actor, channel=channel.value)
        if made.delivered_at:
            _settle(locked)
        else:
            wake("notices.tasks.deliver_letters")
    return made


def record_return(*, delivery: Delivery, reason: str, caller: Caller) -> Delivery:
    """A letter came back. Without another delivery the notice counts as not delivered. Raises Refused."""
    if not reason.strip():
        raise Refused("Say why the letter came back.")
    with transaction.atomic():
        locked = Notice.objects.select_for_update().get(pk=delivery.notice_id)
        found = Delivery.objects.get(pk=delivery.pk)
        if found.returned_at:
            raise Refused("This delivery came back already.")
        if not found.delivered_at:
            raise Refused("The mail has not gone out yet.")
        found.returned_at, found.returned_because = timezone.now(), reason
        found.save(update_fields=["returned_at", "returned_because"])
        note("notice.returned", locked, caller.actor, channel=found.channel)
        _settle(locked)
    return found


def deliver_letters() -> int:
    """Mail the letters that wait. Returns how many went out."""
    return mail.deliver(Delivery.objects.filter(channel=Delivery.Channel.EMAIL, delivered_at=None), _mail)


def _mail(row: Delivery) -> mail.Outcome:
    """Send one letter; nothing if its notice was taken back meanwhile, or no mail ever reaches the address."""
    notice = selectors.notice_with_letter(row.notice_id)
    if notice.state not in Notice.FINISHED:
        return mail.NOT_SENT
    letter = selectors.letter(notice)
    file = letters.render_pdf(letter, "a4")
    leases.renew(row, lasts=mail.LEASE)  # vault and PDF may have taken long
    try:
        mails.send(
            "letter",
            to=row.address,
            language=notice.language,
            organization=letter.organization,
            context={"address": letter.address},
            attachments=[("letter.pdf", file, "application/pdf")],
        )
    except mail.Undeliverable:
        return mail.Outcome(sent=False, record=lambda: _came_back(row, notice))
    return mail.Outcome(sent=True, record=lambda: _went_out(row, hashlib.sha256(file).hexdigest()))


def _went_out(row: Delivery, digest: str) -> None:
    locked = Notice.objects.select_for_update().get(pk=row.notice_id)
    Delivery.objects.filter(pk=row.pk).update(delivered_at=timezone.now(), letter_digest=digest)
    note("notice.mailed", locked, audit.SYSTEM)
    _settle(locked)


def _came_back(row: Delivery, notice: Notice) -> None:
    """Record it at once: a mail that waited for ever would keep the recipient from being corrected."""
    because = "The mail server refuses the address."
    Delivery.objects.filter(pk=row.pk).update(returned_at=timezone.now(), returned_because=because)
    note("notice.returned", notice, audit.SYSTEM, channel=row.channel)


def _settle(locked: Notice) -> None:
    """A finished notice is delivered exactly while a delivery stands that did not come back."""
    if locked.state in Notice.FINISHED:
        stands = locked.deliveries.filter(delivered_at__isnull=False, returned_at=None).exists()
        Notice.objects.filter(pk=locked.pk).update(state=State.DELIVERED if stands else State.APPROVED)


def _mail_address(notice: Notice, address: str) -> str:
    told = address or notice.recipient.get("email") or notice.recipient.get("e-mail")
    if not isinstance(told, str):
        raise Refused("No e-mail address is known. Enter one as the address.")
    try:
        validate_email(told)
    except ValidationError:
        raise Refused("This is no e-mail address. Enter another as the address.") from None
    return told
