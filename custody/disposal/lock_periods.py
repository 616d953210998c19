"""Until when storage that can lock objects is told to keep them. An app above knows the retention policies."""

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta

from django.core.exceptions import ImproperlyConfigured

_days_of: Callable[[uuid.UUID], int | None] | None = None


def register(days_of: Callable[[uuid.UUID], int | None]) -> None:
    """Say how to learn for how many days after their receipt an organization keeps its records; None: it has no policy.
    The app that knows calls this from its `ready()`.

    Raises:
        ImproperlyConfigured: another does.
    """
    global _days_of
    if _days_of is not None:
        raise ImproperlyConfigured("There are two apps that say for how long records are kept.")
    _days_of = days_of


def days_of(organization_id: uuid.UUID) -> int | None:
    """Asks the database, which threads at work with vaults must not."""
    return _days_of(organization_id) if _days_of else None


def until(received_at: datetime, days: int | None) -> datetime | None:
    """Until when a record is to be locked, where it can be."""
    return None if days is None else received_at + timedelta(days=days)
