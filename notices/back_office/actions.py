"""What can be done with a notice in the back office: one table for the buttons and for what they do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from accounts.callers import Caller
from accounts.roles import Permission
from notices import selectors, services
from notices.models import Delivery, Notice
from notices.services.writing import EDITABLE, FINISHED

State = Notice.State
Entered = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Action:
    """Something that can be done: in which states, with which permission, and how. `key` is its keyboard shortcut."""

    name: str
    label: str
    key: str
    permission: Permission
    states: tuple[str, ...]
    run: Callable[[Notice, Caller, Entered], str]
    """Does it with what was entered; gives the sentence that says so. Raises what the service raises."""

    def reason_against(self, notice: Notice) -> str:
        """Why it cannot be done with a notice in this state; "" if it can."""
        return "" if notice.state in self.states else f"The notice is {notice.get_state_display().lower()}."


def _approve(notice: Notice, caller: Caller, entered: Entered) -> str:
    services.approve(
        notice=notice,
        pack=selectors.pack_of(notice),
        caller=caller,
        revision=_revision(entered),
        authority=entered.get("authority", "")[:256],
        comment=entered.get("comment", ""),
    )
    return "Approved."


def _request_changes(notice: Notice, caller: Caller, entered: Entered) -> str:
    reason, revision = entered.get("reason", ""), _revision(entered)
    services.request_changes(notice=notice, reason=reason, caller=caller, revision=revision)
    return "Sent back with your reason."


def _deliver(notice: Notice, caller: Caller, entered: Entered) -> str:
    if entered.get("channel") not in Delivery.Channel.values:
        raise services.Refused("Say how the letter was or shall be delivered.")
    channel = Delivery.Channel(entered["channel"])
    services.deliver(
        notice=notice,
        channel=channel,
        caller=caller,
        address=entered.get("address", ""),
        reference=entered.get("reference", "")[:200],
    )
    return "The letter is on its way." if channel == Delivery.Channel.EMAIL else "The delivery is recorded."


def _withdraw(notice: Notice, caller: Caller, entered: Entered) -> str:
    services.withdraw(notice=notice, caller=caller, reason=entered.get("reason", ""))
    return "Withdrawn."


def _new_version(notice: Notice, caller: Caller, entered: Entered) -> str:
    services.new_version(notice=notice, pack=selectors.pack_of(notice), caller=caller)
    return "There is a new version now, as a draft."


def _plain(service: Callable[..., Any], sentence: str, notice: Notice, caller: Caller, entered: Entered) -> str:
    service(notice=notice, caller=caller)
    return sentence


def _revision(entered: Entered) -> int:
    """The revision that the page showed: nobody decides about words they have not seen."""
    told = entered.get("revision", "")
    if not (told.isascii() and told.isdigit()):
        raise services.Refused("Open the notice again: the page did not say which revision it showed.")
    return int(told)


_hold, _submit = partial(_plain, services.hold, "Noted."), partial(_plain, services.submit, "Sent to review.")
_WRITE, _DECIDE = Permission.DRAFT_NOTICES, Permission.APPROVE_NOTICES

ACTIONS = {
    action.name: action
    for action in (
        Action("approve", "Approve", "a", _DECIDE, EDITABLE, _approve),
        Action("request-changes", "Request changes", "r", _DECIDE, EDITABLE, _request_changes),
        Action("submit", "Send to review", "s", _WRITE, (State.DRAFT,), _submit),
        Action("hold", "Take or release it", "t", _WRITE, EDITABLE, _hold),
        Action("deliver", "Deliver", "d", _WRITE, FINISHED, _deliver),
        Action("new-version", "New version", "n", _WRITE, FINISHED, _new_version),
        Action("withdraw", "Withdraw", "w", _DECIDE, (*EDITABLE, *FINISHED), _withdraw),
    )
}
