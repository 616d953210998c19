"""End of the locks that storage sets on objects. An app above custody knows the retention policies."""

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta

from django.core.exceptions import ImproperlyConfigured

_days_of: Callable[[uuid.UUID], int | None] | None = None


def register(days_of: Callable[[uuid.UUID], int | None]) -> None:
    """Set the function that returns for how many days an organization keeps records after their receipt; None: it has
    no policy. The app that knows this calls it from its `ready()`.

    Raises:
        ImproperlyConfigured: another app has called it.
    """
    global _days_of
    if _days_of is not None:
        raise ImproperlyConfigured("There are two apps that say for how long records are kept.")
    _days_of = days_of


def days_of(organization_id: uuid.UUID) -> int | None:
    """Return the days, or None. It reads the database, so threads that work with vaults must not call it."""
    return _days_of(organization_id) if _days_of else None


def until(received_at: datetime, days: int | None) -> datetime | None:
    """Return the end of a record's lock, or None."""
    return None if days is None else received_at + timedelta(days=days)
