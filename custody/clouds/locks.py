"""Locks of a bucket, and versions of an object, as a cloud reports them."""

from datetime import datetime, timedelta
from typing import NamedTuple


class Locks(NamedTuple):
    """The ways in which a bucket prevents deletion."""

    of_objects: bool
    """Single objects can be locked until a time."""
    of_all: bool
    """Every new object is locked."""
    by_default: timedelta = timedelta()
    """Length of the bucket's default lock, which a lock of the object replaces."""


class Version(NamedTuple):
    """A version of an object in a listing.

    Attributes:
        id: "" where the storage has no versions.
        is_current: the object's name leads to this version.
        is_kept: it cannot be removed now.
        kept_until: end of its lock, if the listing has it.
        recoverable_until: it is removed, and the cloud can restore it until then.
    """

    id: str = ""
    is_current: bool = True
    is_kept: bool = False
    kept_until: datetime | None = None
    recoverable_until: datetime | None = None
