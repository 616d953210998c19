"""Deliveries of approved notices: those that people record, and letters that we mail."""

import hashlib
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts import audit, mail
from accounts.audit import Actor
from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config import leases
from config.celery import wake
from config.visible_text import is_visible
from notices import letters, mails, selectors
from notices.errors import ImpossibleTime, MailWaiting, MissingReason, NoMailAddress, RecipientTooLong, WrongState
from notices.models import Delivery, Notice
from notices.services import audit_trail, review_outcomes, stored_pdfs

State = Notice.State


@requires(Permission.DRAFT_NOTICES)
def deliver(
    *,
    caller: Caller,
    notice: Notice,
    channel: Delivery.Channel,
    address: str = "",
    reference: str = "",
    delivered_at: datetime | None = None,
) -> Delivery:
    """Record that an approved notice was delivered, or have its letter mailed.

    Args:
        address: the address used. A mail without one goes to the recipient's `email`.
        reference: the provider's, such as a tracking number.
        delivered_at: time of a delivery that is no mail; now by default.

    Raises:
        WrongState: the notice is not approved.
        MailWaiting, NoMailAddress, RecipientTooLong, TooLongForPaper: its letter cannot be mailed.
        ImpossibleTime: `delivered_at` is in the future or before the approval.
    """
    with transaction.atomic():
        notices = Notice.objects.for_organization(caller.organization_id).select_related("approval__revision")
        locked = notices.locked(notice.pk)
        if locked.state not in Notice.FINISHED:
            raise WrongState(f"{locked.standing} Only an approved one is delivered.")
        if channel == Delivery.Channel.EMAIL:
            columns = _mail_columns(locked, address)
        else:
            columns = {"address": address, **_delivered_columns(locked, delivered_at)}
        delivery = Delivery.objects.create(
            notice=locked, channel=channel, reference=reference, recorded_by=str(caller.actor), **columns
        )
        audit_trail.record("notice.delivery_recorded", locked, caller.actor, channel=channel.value)
        if delivery.delivered_at:
            _settle(locked, caller.actor)
        else:
            wake("notices.tasks.deliver_letters")
    return delivery


def _mail_columns(locked: Notice, address: str) -> dict[str, Any]:
    """Return the columns of a letter that waits to be mailed."""
    if selectors.mail_waits(locked):
        raise MailWaiting("A mail of this letter waits to go out already.")
    letters.require_fits(locked.approval.revision.content)
    if problem := letters.recipient.length_problem(locked.recipient):
        raise RecipientTooLong(problem)
    return {"address": _mail_address(locked, address)}


def _mail_address(notice: Notice, address: str) -> str:
    known = address or notice.recipient.get("email") or notice.recipient.get("e-mail")
    if not isinstance(known, str):
        raise NoMailAddress("No e-mail address is known. Enter one as the address.")
    try:
        validate_email(known)
    except ValidationError:
        raise NoMailAddress("This is no e-mail address. Enter another as the address.") from None
    return known


def _delivered_columns(locked: Notice, delivered_at: datetime | None) -> dict[str, Any]:
    """Return the columns of a letter that has been delivered."""
    now = timezone.now()
    moment = delivered_at or now
    if not locked.approval.created_at <= moment <= now:
        raise ImpossibleTime("The time of a delivery cannot be before the approval of the notice, nor in the future.")
    return {"handled_at": now, "delivered_at": moment}


@requires(Permission.DRAFT_NOTICES)
def record_return(*, caller: Caller, delivery: Delivery, reason: str) -> Delivery:
    """Record that a letter came back. Without another delivery the notice counts as not delivered.

    Raises:
        MissingReason
        WrongState: the letter is back already, or not out yet.
    """
    if not is_visible(reason):
        raise MissingReason("Say why the letter came back.")
    with transaction.atomic():
        notice = Notice.objects.for_organization(caller.organization_id).locked(delivery.notice_id)
        delivery = notice.deliveries.get(pk=delivery.pk)
        if delivery.returned_at:
            raise WrongState("This delivery came back already.")
        if not delivery.delivered_at:
            raise WrongState("The mail has not gone out yet.")
        delivery.returned_at, delivery.returned_because = timezone.now(), reason
        delivery.save(update_fields=["returned_at", "returned_because"])
        audit_trail.record("notice.returned", notice, caller.actor, channel=delivery.channel)
        _settle(notice, caller.actor)
    return delivery


def deliver_letters() -> int:
    """Mail waiting letters for a slice. Return how many went out.

    Organizations take turns, because a letter waits for its organization's storage.
    """
    return mail.deliver(_unsent(), _mail, owner="notice__organization")


def letters_wait() -> bool:
    """Whether a letter could be mailed now."""
    return leases.due(_unsent()).exists()


def _unsent() -> QuerySet[Delivery]:
    deliveries = Delivery.objects.unscoped("one worker mails the letters of every organization")
    return deliveries.filter(channel=Delivery.Channel.EMAIL, delivered_at=None, handled_at=None)


def _mail(delivery: Delivery) -> mail.Outcome:
    """Send one letter, unless its notice was withdrawn meanwhile or its address is undeliverable."""
    notice = selectors.notice_with_letter(delivery.notice_id)
    if notice.disposed_at or notice.state not in Notice.FINISHED:
        return mail.NOT_SENT
    letter = selectors.letter(notice)
    file = stored_pdfs.pdf(notice, letter, "a4")
    leases.renew(delivery, lasts=mail.LEASE)  # the vault and the PDF can take minutes
    try:
        mails.send(
            "letter",
            to=delivery.address,
            language=notice.language,
            organization=letter.organization,
            context={"address": letter.address},
            attachments=[("letter.pdf", file, "application/pdf")],
        )
    except mail.Undeliverable:
        return mail.Outcome(sent=False, record=lambda: _record_refusal(delivery, notice))
    digest = hashlib.sha256(file).hexdigest()
    return mail.Outcome(sent=True, record=lambda: _record_mailing(delivery, notice, digest))


def _record_mailing(delivery: Delivery, notice: Notice, digest: str) -> None:
    locked = Notice.objects.for_organization(notice.organization_id).locked(notice.pk)
    locked.deliveries.filter(pk=delivery.pk).update(delivered_at=timezone.now(), letter_digest=digest)
    audit_trail.record("notice.mailed", locked, audit.SYSTEM)
    _settle(locked, audit.SYSTEM)


def _record_refusal(delivery: Delivery, notice: Notice) -> None:
    """Record a refused mail as returned, because a waiting mail locks the recipient against corrections."""
    because = "The mail server refuses the address."
    notice.deliveries.filter(pk=delivery.pk).update(returned_at=timezone.now(), returned_because=because)
    audit_trail.record("notice.returned", notice, audit.SYSTEM, channel=delivery.channel)


def _settle(locked: Notice, actor: Actor) -> None:
    """Set the state of a finished notice, and settle the requests for review that it answers.

    The notice is delivered while at least one delivery has not come back.
    """
    if locked.state in Notice.FINISHED:
        is_delivered = locked.deliveries.filter(delivered_at__isnull=False, returned_at=None).exists()
        locked.state = State.DELIVERED if is_delivered else State.APPROVED
        locked.save(update_fields=["state"])
        review_outcomes.settle(locked, actor)
