"""What can be done with a notice in the back office: one table for the buttons and for what they do."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest

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
MAIN = "default"
"""The look of the button that a page is there for."""
Entered = Mapping[str, Any]
Done = tuple[Notice, str]
"""The notice to show next, and the sentence that says what was done."""


def _never(notice: Notice, member: Member | None) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Action:
    """Something that can be done: with which permission, in which states, and after which form.

    `key` is its keyboard shortcut, which leads to the first field of the form; without fields it presses the button.
    `look` is that of the button, as `submit_button` takes it. In the states `aside` it is folded away, and `key`
    unfolds it. Where `is_again` holds, the button is labelled `again`.
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
    aside: tuple[str, ...] = ()
    again: str = ""
    is_again: Callable[[Notice, Member | None], bool] = _never

    def new_form(self, notice: Notice, entered: Any = None, **options: Any) -> ActionForm:
        """Its form, whose ids are its own: a page shows several."""
        return self.form(notice, entered, auto_id=f"{self.name}-%s", **options)

    def offer(self, notice: Notice, member: Member | None, form: ActionForm, reason: str) -> "Offer":
        aside = notice.state in self.aside
        label = self.again if self.is_again(notice, member) else self.label
        for first in [] if aside else form.visible_fields()[:1]:
            first.field.widget.attrs |= {"data-key": self.key, "data-key-label": label}
        return Offer(self, label, "" if aside and self.look == MAIN else self.look, form, reason)


@dataclass(frozen=True, slots=True)
class Offer:
    """An action as a page shows it; `reason` is why it cannot be done now, or ""."""

    action: Action
    label: str
    look: str
    form: ActionForm
    reason: str


@dataclass(frozen=True, slots=True)
class Offers:
    """Every action, by its place on the page: what the notice's state calls for, what can be done beside that, and what
    is not possible now. The main action of a state is in sight even if this person cannot do it: the reason is told."""

    called_for: list[Offer] = field(default_factory=list)
    aside: list[Offer] = field(default_factory=list)
    impossible: list[Offer] = field(default_factory=list)

    def include(self, name: str) -> bool:
        """Whether this can be done now."""
        return any(offer.action.name == name and not offer.reason for offer in (*self.called_for, *self.aside))


def offers(
    request: HttpRequest,
    notice: Notice,
    revision: int,
    against_approval: str,
    warnings: Sequence[ApprovalWarning],
    entered: Mapping[str, ActionForm],
) -> Offers:
    """What this person is offered to do with a notice.

    Args:
        revision: the one that the page shows.
        against_approval: why this person cannot approve this notice, or "".
        warnings: what they have to acknowledge if they can.
        entered: the form of an action that was refused, by its name: it is shown as it was filled in.
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
    return notice, "Approved."


def _request_changes(notice: Notice, caller: Caller, entered: Entered) -> Done:
    services.request_changes(caller=caller, notice=notice, **entered)
    return notice, "Sent back with your reason."


def _submit(notice: Notice, caller: Caller, entered: Entered) -> Done:
    services.submit(caller=caller, notice=notice)
    return notice, "Sent for review."


def _hold(notice: Notice, caller: Caller, entered: Entered) -> Done:
    services.hold(caller=caller, notice=notice, take=entered["take"])
    return notice, "Assigned to you, and others see that." if entered["take"] else "Unassigned."


def _holds(notice: Notice, member: Member | None) -> bool:
    return member is not None and notice.holder_id == member.pk


def _deliver(notice: Notice, caller: Caller, entered: Entered) -> Done:
    channel = Delivery.Channel(entered["channel"])
    details = {name: entered[name] for name in ("address", "reference", "delivered_at")}
    services.deliver(caller=caller, notice=notice, channel=channel, **details)
    is_mail = channel == Delivery.Channel.EMAIL
    return notice, "The letter is on its way." if is_mail else "The delivery is recorded."


def _is_delivered(notice: Notice, member: Member | None) -> bool:
    return notice.state == State.DELIVERED


def _recipient(notice: Notice, caller: Caller, entered: Entered) -> Done:
    rest = {name: value for name, value in notice.recipient.items() if name not in RecipientForm.PARTS}
    services.set_recipient(caller=caller, notice=notice, recipient={**rest, **RecipientForm.entered(entered)})
    return notice, "The letter goes to this recipient now."


def _new_version(notice: Notice, caller: Caller, entered: Entered) -> Done:
    successor = services.new_version(caller=caller, notice=notice)
    return successor, "This is the new version, a draft. Once approved, it takes the other's place."


def _withdraw(notice: Notice, caller: Caller, entered: Entered) -> Done:
    services.withdraw(caller=caller, notice=notice, reason=entered["reason"])
    return notice, "Withdrawn."


_WRITE, _DECIDE = Permission.DRAFT_NOTICES, Permission.APPROVE_NOTICES
_ALL = (*Notice.EDITABLE, *Notice.FINISHED)

ACTIONS = {
    action.name: action
    for action in (
        Action("approve", "Approve", "a", _DECIDE, Notice.EDITABLE, _approve, ApprovalForm, MAIN),
        Action("request-changes", "Request changes", "r", _DECIDE, (State.IN_REVIEW,), _request_changes, ChangesForm),
        Action("submit", "Send for review", "s", _WRITE, (State.DRAFT,), _submit),
        Action(
            "hold", "Assign to me", "t", _WRITE, Notice.EDITABLE, _hold, HoldForm, again="Unassign", is_again=_holds
        ),
        Action(
            "deliver",
            "Deliver",
            "d",
            _WRITE,
            Notice.FINISHED,
            _deliver,
            DeliveryForm,
            MAIN,
            aside=(State.DELIVERED,),
            again="Deliver again",
            is_again=_is_delivered,
        ),
        Action("recipient", "Change the recipient", "i", _WRITE, _ALL, _recipient, RecipientForm, aside=_ALL),
        Action("new-version", "New version", "n", _WRITE, Notice.FINISHED, _new_version, aside=Notice.FINISHED),
        Action("withdraw", "Withdraw", "w", _DECIDE, _ALL, _withdraw, WithdrawalForm, "danger", aside=_ALL),
    )
}
