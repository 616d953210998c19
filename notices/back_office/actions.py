"""Actions on a notice in the back office: one table of buttons and their effects."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts import selectors as accounts
from accounts.back_office import refusal
from accounts.callers import Caller
from accounts.models import Member
from accounts.roles import Permission
from notices import services
from notices.forms import ActionForm, ApprovalForm, ChangesForm, DeliveryForm, HoldForm, RecipientForm, WithdrawalForm
from notices.models import Delivery, Notice
from notices.warnings import ApprovalWarning

State = Notice.State
MAIN = "primary"
"""The look of a page's main button."""
Entered = Mapping[str, Any]
Done = tuple[Notice, str | Promise]
"""The notice to show next, and a sentence about the result."""


def _never(notice: Notice, member: Member | None) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Action:
    """An action on a notice, with its permission, its states and its form.

    The keyboard shortcut `key` focuses the first field of the form, or presses the button of a form without fields.
    `look` is the button's, as in `submit_button`. In the states `aside` the action is folded, and `key` unfolds it. If
    `is_again` is true, the button's label is `again`.
    """

    name: str
    label: str | Promise
    key: str
    permission: Permission
    states: tuple[str, ...]
    run: Callable[[Notice, Caller, Entered], Done]
    """Runs the action with the form's values. Raises what the service raises."""
    form: type[ActionForm] = ActionForm
    look: str = ""
    aside: tuple[str, ...] = ()
    again: str | Promise = ""
    is_again: Callable[[Notice, Member | None], bool] = _never

    def new_form(self, notice: Notice, entered: Any = None, **options: Any) -> ActionForm:
        """Return the action's form, with ids that are unique on a page with several forms."""
        return self.form(notice, entered, auto_id=f"{self.name}-%s", **options)

    def offer(self, notice: Notice, member: Member | None, form: ActionForm, reason: str) -> "Offer":
        aside = notice.state in self.aside
        label = self.again if self.is_again(notice, member) else self.label
        for first in [] if aside else form.visible_fields()[:1]:
            first.field.widget.attrs |= {"data-key": self.key, "data-key-label": label}
        return Offer(self, label, "" if aside and self.look == MAIN else self.look, form, reason)


@dataclass(frozen=True, slots=True)
class Offer:
    """An action as a page shows it; `reason` says why it is disabled, or is ""."""

    action: Action
    label: str | Promise
    look: str
    form: ActionForm
    reason: str


@dataclass(frozen=True, slots=True)
class Offers:
    """Every action by its place on the page: called for by the notice's state, folded aside, or impossible now.

    The main action of a state is visible even if this person cannot do it, with the reason."""

    called_for: list[Offer] = field(default_factory=list)
    aside: list[Offer] = field(default_factory=list)
    impossible: list[Offer] = field(default_factory=list)

    def include(self, name: str) -> bool:
        """Whether this action is possible now."""
        return any(offer.action.name == name and not offer.reason for offer in (*self.called_for, *self.aside))


def offers(
    request: HttpRequest,
    notice: Notice,
    revision: int,
    against_approval: str,
    warnings: Sequence[ApprovalWarning],
    entered: Mapping[str, ActionForm],
) -> Offers:
    """Return the actions on a notice for this person.

    Args:
        revision: number of the revision that the page shows.
        against_approval: why this person cannot approve this notice, or "".
        warnings: the warnings to acknowledge with an approval.
        entered: by action, the form of a refused action, to show again with its values.
    """
    offers, member = Offers(), accounts.current_member(request)
    initial = {"revision": revision, "take": not _holds(notice, member)}
    for action in ACTIONS.values():
        form = entered.get(action.name) or action.new_form(notice, initial=initial)
        if isinstance(form, ApprovalForm):
            form.show(warnings)
        fits, aside = notice.state in action.states, notice.state in action.aside
        reason = refusal(request, action.permission) or ("" if fits else notice.standing)
        if not reason and action.name == "approve":
            reason = against_approval
        offer = action.offer(notice, member, form, reason)
        if aside and not reason:
            offers.aside.append(offer)
        elif fits and not aside and (not reason or action.look == MAIN):
            offers.called_for.append(offer)
        else:
            offers.impossible.append(offer)
    return offers


def _approve(notice: Notice, caller: Caller, entered: Entered) -> Done:
    services.approve(caller=caller, notice=notice, **entered)
    return notice, _("Approved.")


def _request_changes(notice: Notice, caller: Caller, entered: Entered) -> Done:
    services.request_changes(caller=caller, notice=notice, **entered)
    return notice, _("Changes requested. The notice is a draft again.")


def _submit(notice: Notice, caller: Caller, entered: Entered) -> Done:
    services.submit(caller=caller, notice=notice)
    return notice, _("Sent for review.")


def _hold(notice: Notice, caller: Caller, entered: Entered) -> Done:
    services.hold(caller=caller, notice=notice, take=entered["take"])
    return notice, _("Assigned to you, and others see that.") if entered["take"] else _("Unassigned.")


def _holds(notice: Notice, member: Member | None) -> bool:
    return member is not None and notice.holder_id == member.pk


def _deliver(notice: Notice, caller: Caller, entered: Entered) -> Done:
    channel = Delivery.Channel(entered["channel"])
    details = {name: entered[name] for name in ("address", "reference", "delivered_at")}
    services.deliver(caller=caller, notice=notice, channel=channel, **details)
    is_mail = channel == Delivery.Channel.EMAIL
    return notice, _("The letter is on its way.") if is_mail else _("The delivery is recorded.")


def _is_delivered(notice: Notice, member: Member | None) -> bool:
    return notice.state == State.DELIVERED


def _recipient(notice: Notice, caller: Caller, entered: Entered) -> Done:
    other = {name: value for name, value in notice.recipient.items() if name not in RecipientForm.PARTS}
    services.set_recipient(caller=caller, notice=notice, recipient={**other, **RecipientForm.entered(entered)})
    return notice, _("Recipient changed. Nothing was sent.")


def _new_version(notice: Notice, caller: Caller, entered: Entered) -> Done:
    successor = services.new_version(caller=caller, notice=notice)
    return successor, _("This is the new version, a draft. Once approved, it takes the other's place.")


def _withdraw(notice: Notice, caller: Caller, entered: Entered) -> Done:
    services.withdraw(caller=caller, notice=notice, reason=entered["reason"])
    return notice, _("Withdrawn.")


_WRITE, _DECIDE = Permission.DRAFT_NOTICES, Permission.APPROVE_NOTICES
_ALL = (*Notice.EDITABLE, *Notice.FINISHED)

ACTIONS = {
    action.name: action
    for action in (
        Action("approve", _("Approve"), "a", _DECIDE, Notice.EDITABLE, _approve, ApprovalForm, MAIN),
        Action(
            "request-changes", _("Request changes"), "r", _DECIDE, (State.IN_REVIEW,), _request_changes, ChangesForm
        ),
        Action("submit", _("Send for review"), "s", _WRITE, (State.DRAFT,), _submit),
        Action(
            "hold",
            _("Assign to me"),
            "t",
            _WRITE,
            Notice.EDITABLE,
            _hold,
            HoldForm,
            again=_("Unassign"),
            is_again=_holds,
        ),
        Action(
            "deliver",
            _("Deliver"),
            "d",
            _WRITE,
            Notice.FINISHED,
            _deliver,
            DeliveryForm,
            MAIN,
            aside=(State.DELIVERED,),
            again=_("Deliver again"),
            is_again=_is_delivered,
        ),
        Action("recipient", _("Change the recipient"), "i", _WRITE, _ALL, _recipient, RecipientForm, aside=_ALL),
        Action("new-version", _("New version"), "n", _WRITE, Notice.FINISHED, _new_version, aside=Notice.FINISHED),
        Action("withdraw", _("Withdraw"), "w", _DECIDE, _ALL, _withdraw, WithdrawalForm, "danger", aside=_ALL),
    )
}
