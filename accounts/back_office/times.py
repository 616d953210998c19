"""Times on pages: in UTC, which times.js rewrites into the reader's zone."""

from datetime import UTC, datetime

from django.utils.html import format_html

from config.http.timestamps import day_in_words, minute_in_words, rfc3339


def time_tag(value: datetime | None) -> str:
    """Return a time as an HTML element that shows the minute and names the second, or "" for None."""
    if value is None:
        return ""
    moment = value.astimezone(UTC)
    exact = f"{day_in_words(moment)}, {moment:%H:%M:%S} UTC"
    return format_html('<time datetime="{}" title="{}">{}</time>', rfc3339(value), exact, minute_in_words(moment))
