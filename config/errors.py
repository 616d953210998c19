"""The one error that services and selectors raise, and what every door to them tells of it.

The API, the pages and the commands each map it once: `config.http.error_answers`, `config.middleware` and `manage.py`.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

RETRY_AFTER_SECONDS = 5
"""After a 503 for which nothing better is known."""


class DomainError(Exception):
    """A service refuses, or cannot do what was asked now.

    Subclasses name the case and set:

    Attributes:
        code: a stable name of the case, for programs and logs.
        status: the HTTP status that means the same; 5xx is ours, and is logged.
        sentence: for the caller: what was wrong, and how to mend it. It repeats nothing private.
        members: what the body of the API's answer says beside the sentence; like it, nothing private.
        retry_after: seconds until another try makes sense, where one does; a 503 always says.

    Args:
        sentence: replaces that of the class where the case has more to say.
        because: for those who read the log; callers never see it.
    """

    code: ClassVar[str] = "refused"
    status: ClassVar[int] = 409
    sentence: str = ""
    members: Mapping[str, Any] = MappingProxyType({})
    retry_after: int | None = None

    def __init__(self, sentence: str = "", *, because: str = "", retry_after: int | None = None) -> None:
        super().__init__(because or sentence or self.sentence)
        if sentence:
            self.sentence = sentence
        if retry_after is not None:
            self.retry_after = retry_after
        elif self.retry_after is None and self.status == 503:
            self.retry_after = RETRY_AFTER_SECONDS


class NotFound(DomainError):
    """The caller's organization has nothing of this identifier."""

    code = "not_found"
    status = 404
    sentence = "There is nothing of this identifier in your organization."


class NotAllowed(DomainError):
    """The caller may not do this."""

    code = "not_allowed"
    status = 403
    sentence = "Your role does not allow this."


class Fault(DomainError):
    """Something of ours does not work. A caller should come back on 503; on 500 an administrator has to act first."""

    code = "fault"
    status = 500


class Invalid(DomainError):
    """What was sent fails validation: the API answers with the contract's `HTTPValidationError`.

    Args:
        problems: objects with `loc`, `msg`, `type` and perhaps `input` and `ctx`.
    """

    code = "invalid"
    status = 422

    def __init__(self, problems: Sequence[Mapping[str, Any]]) -> None:
        super().__init__("; ".join(str(problem["msg"]) for problem in problems))
        self.problems = list(problems)
