"""Errors of retention."""

from config.errors import DomainError, NotFound


class NoHold(NotFound):
    """The organization has no hold of this number."""

    code = "no_hold"
    sentence = "There is no hold of this number in your organization."


class HoldLifted(DomainError):
    """The hold was lifted before."""

    code = "hold_lifted"
    sentence = "This hold was lifted before."


class DoesNotAsk(DomainError):
    """The run does not wait for an owner, or no longer asks what the owner saw."""

    code = "does_not_ask"
    sentence = "This run no longer asks what you confirmed. Nothing was disposed of. Reload the page."
