"""What can be done with a notice in the back office: one table for the buttons and for what they do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from accounts.back_office import refusal
from accounts.callers import Caller
from accounts.roles import Permission
from notices import services
from notices.forms import ActionForm, ApprovalForm, ChangesForm, DeliveryForm, RecipientForm, WithdrawalForm
from notices.models import Delivery, Notice
from notices.services.writing import EDITABLE, FINISHED

State = Notice.State
Entered = Mapping[str, Any]
Done = tuple[Notice, str]
"""The notice to show next, and the sentence that says what was done."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something that can be done: with which permission, in which states, and after which form.

    `key` is its keyboard shortcut, which leads to the first field of the form; without fields it presses the button.
    `look` is that of the button, as `submit_button` takes it.
    """

    name: str
    label: str
    key: str
    permission: Permission
    states: tuple[str, ...]
    run: Callable[[Notice, Caller, Entered], Done]
    """Does it with what the form holds. Raises what the service raises."""
    form: type[ActionForm] = ActionForm
    look: str = ""

    def new_form(self, entered: Any = None, **options: Any) -> ActionForm:
        """Its form, whose ids are its own: a page shows several."""
        form = self.form(entered, auto_id=f"{self.name}-%s", **options)
        for first in form.visible_fields()[:1]:
            first.field.widget.attrs |= {"data-key": self.key, "data-key-label": self.label}
        return form


@dataclass(frozen=True, slots=True)
class Offer:
    """An action as a page shows it; `reason` is why it cannot be done now, or ""."""

    action: Action
    form: ActionForm
    reason: str


def offers(
    request: HttpRequest, notice: Notice, revision: int, against_approval: str, entered: Mapping[str, ActionForm]
) -> list[Offer]:
    """Every action, with those first that the notice's state calls for.

    Args:
        revision: the one that the page shows.
        against_approval: why this person cannot approve this notice, or "".
        entered: the form of an action that was refused, by its name: it is shown as it was filled in.
    """
    found = []
    initial = {"revision": revision, **RecipientForm.shown(notice.recipient)}
    for action in ACTIONS.values():
        form = entered.get(action.name) or action.new_form(initial=initial)
        reason = refusal(request, action.permission)
        if not reason and notice.state not in action.states:
            reason = f"The notice is {notice.get_state_display().lower()}."
        if not reason and action.name == "approve":
            reason = against_approval
        found.append(Offer(action, form, reason))
    return sorted(found, key=lambda offer: notice.state not in offer.action.states)


def _approve(notice: Notice, caller: Caller, entered: Entered) -> Done:
    services.approve(notice=notice, caller=caller, **entered)
    return notice, "Approved."


def _request_changes(notice: Notice, caller: Caller, entered: Entered) -> Done:
    services.request_changes(notice=notice, caller=caller, **entered)
    return notice, "Sent back with your reason."


def _submit(notice: Notice, caller: Caller, entered: Entered) -> Done:
    services.submit(notice=notice, caller=caller)
    return notice, "Sent to review."


def _hold(notice: Notice, caller: Caller, entered: Entered) -> Done:
    services.hold(notice=notice, caller=caller)
    return notice, "Let go." if notice.holder_id == caller.member_id else "You hold it now, and others see that."


def _deliver(notice: Notice, caller: Caller, entered: Entered) -> Done:
    channel = Delivery.Channel(entered["channel"])
    told = {name: entered[name] for name in ("address", "reference", "delivered_at")}
    services.deliver(notice=notice, channel=channel, caller=caller, **told)
    by_mail = channel == Delivery.Channel.EMAIL
    return notice, "The letter is on its way." if by_mail else "The delivery is recorded."


def _recipient(notice: Notice, caller: Caller, entered: Entered) -> Done:
    kept = {name: value for name, value in notice.recipient.items() if name not in RecipientForm.PARTS}
    services.set_recipient(notice=notice, recipient={**kept, **RecipientForm.told(entered)}, caller=caller)
    return notice, "The letter goes to this recipient now."


def _new_version(notice: Notice, caller: Caller, entered: Entered) -> Done:
    made = services.new_version(notice=notice, caller=caller)
    return made, "This is the new version, a draft. Once approved, it takes the other's place."


def _withdraw(notice: Notice, caller: Caller, entered: Entered) -> Done:
    services.withdraw(notice=notice, caller=caller, reason=entered["reason"])
    return notice, "Withdrawn."


_WRITE, _DECIDE = Permission.DRAFT_NOTICES, Permission.APPROVE_NOTICES
_ALL = (*EDITABLE, *FINISHED)

ACTIONS = {
    action.name: action
    for action in (
        Action("approve", "Approve", "a", _DECIDE, EDITABLE, _approve, ApprovalForm, "default"),
        Action("request-changes", "Request changes", "r", _DECIDE, EDITABLE, _request_changes, ChangesForm),
        Action("submit", "Send to review", "s", _WRITE, (State.DRAFT,), _submit),
        Action("hold", "Take it, or let go of it", "t", _WRITE, EDITABLE, _hold),
        Action("deliver", "Deliver", "d", _WRITE, FINISHED, _deliver, DeliveryForm, "default"),
        Action("recipient", "Save the recipient", "i", _WRITE, _ALL, _recipient, RecipientForm),
        Action("new-version", "New version", "n", _WRITE, FINISHED, _new_version),
        Action("withdraw", "Withdraw", "w", _DECIDE, _ALL, _withdraw, WithdrawalForm, "danger"),
    )
}
