"""Deadlines for appeals, by the texts of delivered letters."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from config.errors import Fault
from config.http.timestamps import day_in_words
from notices import selectors
from notices.models import Notice
from notices.packs import packs

_PLACEHOLDER = "appeal_days"
_MAX_APPEAL = timedelta(days=366)
"""No law here gives longer, so the records of letters delivered earlier need not be read."""


def open_appeals(notices: QuerySet[Notice]) -> Iterator[tuple[Notice, str]]:
    """Yield the notices that can still be appealed, each with a sentence about the deadline."""
    now = timezone.now()
    about_appeals = [pack.id for pack in packs().values() if any(_PLACEHOLDER in t.placeholders for t in pack.locked)]
    delivered = notices.filter(
        pack__in=about_appeals,
        state=Notice.State.DELIVERED,
        deliveries__delivered_at__gt=now - _MAX_APPEAL,
        deliveries__returned_at=None,
    )
    for notice in delivered.select_related("decision__record", "organization").distinct():
        ends = _ends(notice)
        if ends is None:
            yield notice, "How long the person can appeal cannot be read from the record."
        elif ends > now:
            yield notice, f"The person can appeal until {day_in_words(ends)}."


def _ends(notice: Notice) -> datetime | None:
    """Return when the time to appeal ends; None if that cannot be read."""
    try:
        record, settings = selectors.facts_for(notice).get, selectors.placeholders_of(notice.organization)
    except Fault:
        return None
    days = selectors.pack_of(notice).values(record, settings).get(_PLACEHOLDER, "")
    delivered = selectors.delivered_at(notice)
    return delivered + timedelta(days=int(days)) if delivered and days.isdecimal() and len(days) < 5 else None
