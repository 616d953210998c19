"""What apps keep about persons outside of families: it belongs to no record, and goes by its age alone."""

import uuid
from collections.abc import Callable
from datetime import datetime

from django.core.exceptions import ImproperlyConfigured

from config import db

Sweep = Callable[[uuid.UUID, datetime], int]

_REGISTERED: dict[str, Sweep] = {}


def register(name: str, sweep: Sweep) -> None:
    """Add a kind of things that age; apps call this from their `ready()`.

    Args:
        name: in the plural.
        sweep: takes an organization's id and a moment, removes or makes unrecognisable what is older, and returns how
            many of them there were. It may be stopped at any moment and run again.

    Raises:
        ImproperlyConfigured: the name is taken.
    """
    if name in _REGISTERED:
        raise ImproperlyConfigured(f"There are two kinds of aging things with the name {name!r}.")
    _REGISTERED[name] = sweep


def sweep(organization_id: uuid.UUID, before: datetime) -> dict[str, int]:
    """Remove what is older than a moment. Returns how many there were of each kind."""
    found = {name: each(organization_id, before) for name, each in _REGISTERED.items()}
    db.empty_log()
    return found
