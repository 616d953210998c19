"""Deadlines as pages show them."""

from datetime import UTC, datetime, timedelta

from django.utils import timezone
from django.utils.html import format_html

from config.http.timestamps import rfc3339

_DAY = timedelta(days=1)


def time_left(due_at: datetime) -> str:
    """Return how long is left until a deadline, or how late it is, in hours if that is less than a day."""
    now = timezone.now().astimezone(UTC)
    apart = abs(due_at - now)
    # Count calendar days, as people do: a notice due at the end of Monday is two days late all Wednesday.
    count = abs((due_at.astimezone(UTC).date() - now.date()).days) if apart >= _DAY else apart.seconds // 3600
    unit = "day" if apart >= _DAY else "hour"
    length = f"{count} {unit}{'' if count == 1 else 's'}" if count else "less than an hour"
    return f"{length} late" if due_at < now else f"in {length}"


def deadline(due_at: datetime) -> str:
    """Return a list's cell: the time left, in red if late, above the date."""
    cell = '<span class="{}">{}</span><br><time class="quiet" datetime="{}">{}</time>'
    late = "late" if due_at < timezone.now() else ""
    return format_html(cell, late, time_left(due_at), rfc3339(due_at), due_at.astimezone(UTC).date())
