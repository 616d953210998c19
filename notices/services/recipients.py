"""To whom a letter goes."""

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
"""What of a recipient may change after the approval."""


@requires(Permission.DRAFT_NOTICES)
def set_recipient(*, caller: Caller, notice: Notice, recipient: Mapping[str, Any]) -> None:
    """Say to whom the letter goes. It is no edit of what the notice says, so an approval stands, and a letter that came
    back can be sent anew: then name and address alone change, and the history says who changed which of them.

    Raises:
        RecipientTooLong, RecipientFixed, MailWaiting
        WrongState: the notice is withdrawn, or its letter delivered: that tells who was told what.
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
        if selectors.mail_waits(locked):  # else one person's letter goes to another's mailbox
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
    """Keep it that an approved letter goes elsewhere. What it said before and says now is private."""
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
