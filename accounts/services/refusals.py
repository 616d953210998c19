from typing import ClassVar


class Refused(Exception):
    """A rule of access forbids it. `sentence` says so to the person; `status` is what the API answers."""

    status: ClassVar[int] = 409
    sentence: ClassVar[str]
