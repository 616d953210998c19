"""Recipients of letters."""

from collections.abc import Collection, Mapping
from typing import Any

from django.db import transaction

from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from notices import selectors
from notices.errors import MailWaiting, RecipientFixed, RecipientTooLong, WrongState
from notices.letters import recipient as recipients
from notices.models import Notice, Step
from notices.services import audit_trail

_ADDRESS = {"name", "address", "email", "e-mail"}
"""The fields of a recipient that may change after the approval."""


@requires(Permission.DRAFT_NOTICES)
def set_recipient(*, caller: Caller, notice: Notice, recipient: Mapping[str, Any]) -> None:
    """Set the recipient of a notice's letter.

    This edits no words, so an approval stays valid. After the approval only name and address can change, for example to
    send a returned letter again. The history then names the changed fields and the actor.

    Raises:
        RecipientTooLong, RecipientFixed, MailWaiting
        WrongState: the notice is withdrawn, or is delivered and so documents who got which words.
    """
    if problem := recipients.length_problem(recipient):
        raise RecipientTooLong(problem)
    with transaction.atomic():
        locked = Notice.objects.for_organization(caller.organization_id).locked(notice.pk)
        if locked.state == Notice.State.WITHDRAWN:
            raise WrongState(locked.standing)
        if locked.state == Notice.State.DELIVERED and locked.recipient != recipient:
            raise WrongState(
                f"{locked.standing} Its recipient stays, unless it comes back. Make a new version for another."
            )
        if selectors.mail_waits(locked):  # else one person's letter goes to another person's mailbox
            raise MailWaiting("A mail of this letter waits to go out. Change the recipient once it has.")
        before = locked.recipient
        changed = {name for name in {*before, *recipient} if before.get(name) != recipient.get(name)}
        if locked.state in Notice.FINISHED:
            _readdress(locked, changed, caller)
        else:
            audit_trail.record("notice.recipient_set", locked, caller.actor)
        locked.recipient = dict(recipient)
        locked.save(update_fields=["recipient"])


def _readdress(locked: Notice, changed: Collection[str], caller: Caller) -> None:
    """Record the changed fields of an approved letter's recipient, without their values, which are private."""
    if not _ADDRESS.issuperset(changed):
        raise RecipientFixed
    names = sorted(changed)
    if names:
        Step.objects.create(
            notice=locked,
            revision_id=locked.approval.revision_id,
            kind=Step.Kind.READDRESSED,
            reason=", ".join(names),
            actor_label=caller.actor.label,
        )
    audit_trail.record("notice.recipient_set", locked, caller.actor, changed=names)
