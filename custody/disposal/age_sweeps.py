"""Personal data outside families: it belongs to no record, and is removed by its age alone."""

import uuid
from collections.abc import Callable
from datetime import datetime

from django.core.exceptions import ImproperlyConfigured

from config import db

Sweep = Callable[[uuid.UUID, datetime], int]

_REGISTERED: dict[str, Sweep] = {}


def register(name: str, sweep: Sweep) -> None:
    """Add a kind of data that is removed by age; apps call this from their `ready()`.

    Args:
        name: the kind, in the plural.
        sweep: takes an organization's id and a moment, removes or anonymizes older data, and returns how many items
            there were. It may be stopped at any moment and run again.

    Raises:
        ImproperlyConfigured: the name is taken.
    """
    if name in _REGISTERED:
        raise ImproperlyConfigured(f"There are two kinds of aging things with the name {name!r}.")
    _REGISTERED[name] = sweep


def sweep(organization_id: uuid.UUID, before: datetime) -> dict[str, int]:
    """Remove all data older than a moment. Returns how many items of each kind there were."""
    counts = {name: sweep_kind(organization_id, before) for name, sweep_kind in _REGISTERED.items()}
    db.empty_log()
    return counts
