"""Deadlines, sources and values as pages show them."""

import re
from datetime import UTC, datetime, timedelta

from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext

from config.http.timestamps import day_in_words, rfc3339
from config.words import in_words
from custody.sealing import field_paths
from decisions.record_summary import as_text

_DAY = timedelta(days=1)
_UNNAMED = ("events", "outcome")  # the first keys of most paths


def source_in_words(path: str) -> str:
    """Return a path in words: `outcome.reasons.0.text` becomes "Reasons 1". Any other text stays."""
    try:
        keys = field_paths.keys(path)
    except field_paths.NoSuchField:
        return path
    if len(keys) > 1 and keys[0] in _UNNAMED:
        keys = keys[2:] if keys[1].isdecimal() and len(keys) > 2 else keys[1:]
    if len(keys) > 1 and keys[-1] == "text":
        keys = keys[:-1]
    label = ""
    for key in keys:
        words = in_words(as_text(key))
        if key.isdecimal():
            label += f" {int(key) + 1}"
        else:
            label += f", {words[:1].lower()}{words[1:]}" if label else words
    return label.strip()


def has_words(text: str, value: str) -> bool:
    """Whether a text has a value word for word, not as a part of a longer word or number."""
    value = value.strip().removesuffix(".")
    return bool(value) and re.search(rf"(?<![\w.,]){re.escape(value)}(?!\w|[.,]\d)", text) is not None


def time_left(due_at: datetime) -> str:
    """Return how long is left until a deadline, or how late it is, in hours if that is less than a day."""
    now = timezone.now().astimezone(UTC)
    apart = abs(due_at - now)
    # Count calendar days, as people do: a notice due at the end of Monday is two days late all Wednesday.
    count = abs((due_at.astimezone(UTC).date() - now.date()).days) if apart >= _DAY else apart.seconds // 3600
    is_late = due_at < now
    if not count:
        return gettext("less than an hour late") if is_late else gettext("in less than an hour")
    if apart >= _DAY:
        late = ngettext("%(count)s day late", "%(count)s days late", count)
        left = ngettext("in %(count)s day", "in %(count)s days", count)
    else:
        late = ngettext("%(count)s hour late", "%(count)s hours late", count)
        left = ngettext("in %(count)s hour", "in %(count)s hours", count)
    return (late if is_late else left) % {"count": count}


def deadline(due_at: datetime) -> str:
    """Return a list's cell: the time left, in red if late, above the date."""
    cell = '<span class="{}">{}</span><br><time class="quiet" datetime="{}">{}</time>'
    late = "late" if due_at < timezone.now() else ""
    return format_html(cell, late, time_left(due_at), rfc3339(due_at), day_in_words(due_at.astimezone(UTC)))
