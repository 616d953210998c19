"""The one error that services and selectors raise, and what every door to them tells of it."""

from typing import ClassVar


class DomainError(Exception):
    """A service refuses, or cannot do what was asked now.

    The API turns it into an answer in one place. Subclasses name the case and set:

    Attributes:
        code: a stable name of the case, for programs and logs.
        status: the HTTP status that means the same; 5xx is ours, and is logged.
        sentence: for the caller: what was wrong, and how to mend it. It repeats nothing private.
        retry_after: seconds until another try makes sense, where one does.

    Args:
        sentence: replaces that of the class where the case has more to say.
        because: for those who read the log; callers never see it.
    """

    code: ClassVar[str] = "refused"
    status: ClassVar[int] = 409
    sentence: str = ""
    retry_after: int | None = None

    def __init__(self, sentence: str = "", *, because: str = "", retry_after: int | None = None) -> None:
        super().__init__(because or sentence or self.sentence)
        if sentence:
            self.sentence = sentence
        if retry_after is not None:
            self.retry_after = retry_after
