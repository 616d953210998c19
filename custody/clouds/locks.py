"""What a cloud says of a bucket's locks, and of the versions of an object."""

from datetime import datetime, timedelta
from typing import NamedTuple


class Locks(NamedTuple):
    """How a bucket keeps objects from being removed."""

    of_objects: bool
    """A single object can be locked until a time."""
    of_all: bool
    """Whatever is put is locked."""
    by_default: timedelta = timedelta()
    """For how long, where a lock of its own would go before that."""


class Version(NamedTuple):
    """A version of an object, as a list has it.

    Attributes:
        id: "" where the storage has no versions.
        is_current: it is what the object's name leads to.
        is_kept: nobody can remove it now.
        kept_until: and until when not, if the list says so.
        recoverable_until: it was removed, and until then the cloud can bring it back.
    """

    id: str = ""
    is_current: bool = True
    is_kept: bool = False
    kept_until: datetime | None = None
    recoverable_until: datetime | None = None
