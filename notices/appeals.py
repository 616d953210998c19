"""Until when a person can appeal, by what their letter says of it."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from config.errors import Fault
from notices import selectors
from notices.models import Notice
from notices.packs import packs

_PLACEHOLDER = "appeal_days"
_LONGEST = timedelta(days=366)
"""No law here gives longer. Of letters delivered before, nobody need look what their records say."""


def open_appeals(notices: QuerySet[Notice]) -> Iterator[tuple[Notice, str]]:
    """The notices whose time to appeal is not over, each with a sentence that says until when."""
    now = timezone.now()
    about_appeals = [pack.id for pack in packs().values() if any(_PLACEHOLDER in t.placeholders for t in pack.locked)]
    delivered = notices.filter(
        pack__in=about_appeals,
        state=Notice.State.DELIVERED,
        deliveries__delivered_at__gt=now - _LONGEST,
        deliveries__returned_at=None,
    )
    for notice in delivered.select_related("decision__record", "organization").distinct():
        ends = _ends(notice)
        if ends is None:
            yield notice, "How long the person can appeal cannot be read from the record."
        elif ends > now:
            yield notice, f"The person can appeal until {ends:%Y-%m-%d}."


def _ends(notice: Notice) -> datetime | None:
    """None if it cannot be told."""
    try:
        record, settings = selectors.facts_of(notice.decision).get, selectors.placeholders_of(notice.organization)
    except Fault:
        return None
    days = selectors.pack_of(notice).values(record, settings).get(_PLACEHOLDER, "")
    delivered = selectors.delivered_at(notice)
    return delivered + timedelta(days=int(days)) if delivered and days.isdecimal() and len(days) < 5 else None
