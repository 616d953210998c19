"""Changes of guards of four eyes, and the mail to owners about a loosening."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import audit, mail, selectors
from accounts.callers import Caller
from accounts.four_eyes import LOOSENING_DELAY, Guarded
from accounts.models import LooseningMail
from accounts.roles import Permission, Role
from config import leases
from config.celery import wake
from config.errors import NotAllowed
from config.http.timestamps import rfc3339


class OwnersGuard(NotAllowed):
    """A guard of four eyes belongs to the owners, never to a key."""

    code = "owners_guard"


def change(*, caller: Caller, row: Guarded, to: Mapping[str, Any], page: str) -> None:
    """Change guards of a settled row that the transaction has locked. The calling code saves the row.

    A tighter value counts at once. A looser one counts after `LOOSENING_DELAY`, and every owner gets a mail now. An
    owner who sends the present value cancels a waiting loosening.

    Args:
        to: the new value of each guard. For a caller who is no owner, the present value changes nothing.
        page: the path where an owner cancels a loosening.

    Raises:
        OwnersGuard: the caller is no owner, signed in and confirmed by a second factor.
    """
    for guard, value in to.items():
        waits = row.loosenings.get(guard)
        if value == getattr(row, guard):
            if waits and not refusal(caller):
                _cancel(caller, row, guard)
        elif row.loosens(guard, value):
            if waits is None or waits["to"] != value:
                _require_guardian(caller, guard)
                _ask(caller, row, guard, value, page)
        else:
            if row.is_owners_alone(guard):
                _require_guardian(caller, guard)
            if waits:
                _cancel(caller, row, guard)
            _audit("guard.tightened", caller, guard, before=getattr(row, guard), after=value)
            setattr(row, guard, value)


def refusal(caller: Caller) -> str:
    """Return the reason why the caller may not change guards, or ""."""
    if caller.member_id is None:
        return "An API key changes no safeguard of approvals. An owner does, signed in with an authenticator app."
    if caller.role is not Role.OWNER:
        return "Only an owner changes the safeguards of approvals."
    return "" if caller.has_second_factor else "To change safeguards, sign in at /sign-in/?confirm with an app."


def _require_guardian(caller: Caller, guard: str) -> None:
    if reason := refusal(caller):
        raise OwnersGuard(f"{reason} Leave {guard} out, or send the present value.")


def _ask(caller: Caller, row: Guarded, guard: str, value: Any, page: str) -> None:
    takes_effect_at = timezone.now() + LOOSENING_DELAY
    label = str(caller.actor)
    row.loosenings[guard] = {"to": value, "asked_by": label, "takes_effect_at": rfc3339(takes_effect_at)}
    _audit("guard.loosening_asked", caller, guard, to=value, takes_effect_at=rfc3339(takes_effect_at))
    LooseningMail.objects.bulk_create(
        LooseningMail(member=owner, guard=row.GUARDS[guard], asked_by=label, takes_effect_at=takes_effect_at, page=page)
        for owner in selectors.members_who_may(caller.organization_id, Permission.MANAGE_ORGANIZATION)
    )
    wake("accounts.tasks.deliver_mail")


def _cancel(caller: Caller, row: Guarded, guard: str) -> None:
    del row.loosenings[guard]
    _audit("guard.loosening_canceled", caller, guard)


def send_loosenings() -> int:
    """Mail owners the loosenings that wait. Return how many mails went out."""
    return mail.deliver(LooseningMail.objects.unscoped("one worker sends the mail of all"), _send)


def _send(row: LooseningMail) -> mail.Outcome:
    organization = " ".join(row.member.organization.name.split())
    leases.renew(row, lasts=mail.LEASE)
    mail.send(
        "loosening",
        to=row.member.user.email,
        subject=_("%(organization)s: a safeguard of approvals will be loosened") % {"organization": organization},
        context={"organization": organization, "row": row},
    )
    return mail.Outcome(sent=True)


def _audit(verb: str, caller: Caller, guard: str, **detail: Any) -> None:
    audit.record(
        verb,
        actor=caller.actor,
        organization_id=caller.organization_id,
        object_kind="organization",
        object_id=caller.organization_id,
        guard=guard,
        **detail,
    )
