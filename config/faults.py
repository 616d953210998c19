"""Faults that no caller caused, and how a caller is told of them."""

from typing import ClassVar

from config.errors import DomainError


class Fault(DomainError):
    """Something of ours does not work. `because` is for the log; `sentence` and `status` are for the caller.

    With `status` 503 a caller should come back; with 500 an administrator has to act first.
    """

    status: ClassVar[int] = 500
    sentence: str

    def __init__(self, because: str = "") -> None:
        super().__init__(because=because)
