"""Faults that no caller caused, and how a caller is told of them."""

from typing import ClassVar


class Fault(Exception):
    """Something of ours does not work. Its message is for the log; `sentence` and `status` are for the caller.

    With `status` 503 a caller should come back; with 500 an administrator has to act first.
    """

    status: ClassVar[int] = 500
    sentence: ClassVar[str]
