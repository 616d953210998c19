"""The base of all errors that services and selectors raise.

API, pages and commands each map it in one place: `config.http.error_answers`, `config.middleware` and `manage.py`.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

RETRY_AFTER_SECONDS = 5
"""Default of Retry-After with a 503."""


class DomainError(Exception):
    """A service refuses a request, or cannot fulfil it now.

    A subclass is one case and sets:

    Attributes:
        code: stable name of the case, for programs and logs.
        status: matching HTTP status. A 5xx is our fault and is logged.
        sentence: for the caller: what was wrong and how to fix it. It contains nothing private.
        members: further members of the API's answer. They contain nothing private.
        retry_after: seconds until a retry makes sense, if one does. Every 503 has it.

    Args:
        sentence: replaces the sentence of the class.
        because: reason for the log. Callers never see it.
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
    """The caller's organization has no such object."""

    code = "not_found"
    status = 404
    sentence = "There is nothing of this identifier in your organization."


class NotAllowed(DomainError):
    """The caller may not do this."""

    code = "not_allowed"
    status = 403
    sentence = "Your role does not allow this."


class Fault(DomainError):
    """A fault of this service. After a 503 the caller can retry; after a 500 an administrator must act first."""

    code = "fault"
    status = 500


class Invalid(DomainError):
    """The request fails validation. The API answers with the contract's `HTTPValidationError`.

    Args:
        problems: objects with `loc`, `msg`, `type`, and optionally `input` and `ctx`.
    """

    code = "invalid"
    status = 422

    def __init__(self, problems: Sequence[Mapping[str, Any]]) -> None:
        super().__init__("; ".join(str(problem["msg"]) for problem in problems))
        self.problems = list(problems)
