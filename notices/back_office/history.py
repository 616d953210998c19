"""The history of a notice in pages, because a notice may have thousands of revisions."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet

from accounts.back_office import label_of
from notices.models import Approval, Delivery, Notice, NoticeRevision, Step
from notices.services.restoring import RESTORER

A_PAGE = 50
_STEPS = {
    Step.Kind.SUBMITTED: "sent it for review",
    Step.Kind.CHANGES_REQUESTED: "asked for changes",
    Step.Kind.READDRESSED: "changed to whom the approved letter goes",
    Step.Kind.WITHDRAWN: "withdrew it",
}
_UNKNOWN = "Who wrote them, earlier revisions, deliveries and withdrawals are not in custody: they are unknown."
_CURSOR = re.compile(r"([0-9T:.+-]{19,40})_([0-9])_([0-9]{1,18})")


class Place(NamedTuple):
    """The position of an event in the history. Events of the same moment are in the order of their sources."""

    at: datetime
    source: int
    pk: int

    def cursor(self) -> str:
        return f"{self.at.isoformat()}_{self.source}_{self.pk}"


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a notice's history; `compare` is the number of a revision to compare with the one before."""

    place: Place
    who: str
    what: str
    why: str = ""
    compare: int | None = None

    @property
    def at(self) -> datetime:
        return self.place.at


@dataclass(frozen=True, slots=True)
class Timeline:
    """A page of the history, oldest first; `earlier` is the cursor of the page before it, or ""."""

    events: list[Event]
    earlier: str
    newest: bool


def page(notice: Notice, *, before: str = "") -> Timeline:
    """Return the newest events, or the newest before those of another page.

    Args:
        before: that page's `earlier`. An invalid cursor counts as none.
    """
    place = _place(before)
    events = [event for source in range(len(_SOURCES)) for event in _events(notice, source, place)]
    events.sort(key=lambda event: event.place)
    newest = events[-A_PAGE:]
    return Timeline(newest, newest[0].place.cursor() if len(events) > A_PAGE else "", newest=place is None)


def _events(notice: Notice, source: int, before: Place | None) -> Iterator[Event]:
    """Yield the newest events of one source: one more than fits on a page, to show that there is another page."""
    select, moment, describe = _SOURCES[source]
    rows = select(notice).filter(**{f"{moment}__isnull": False})
    if before:
        earlier = Q(**{f"{moment}__lt": before.at})
        if source < before.source:
            earlier |= Q(**{moment: before.at})
        elif source == before.source:
            earlier |= Q(**{moment: before.at}, pk__lt=before.pk)
        rows = rows.filter(earlier)
    for row in rows.order_by(f"-{moment}", "-pk")[: A_PAGE + 1]:
        yield Event(Place(getattr(row, moment), source, row.pk), *describe(row))


def _revised(row: NoticeRevision) -> tuple[Any, ...]:
    why = " ".join(row.not_applicable.values())
    if row.author_id == RESTORER.id:
        return "Custody", f"restored the approved words as revision {row.number} after a database restore", _UNKNOWN
    if row.number == 1:
        return row.author_label, "drafted it", why
    return row.author_label, f"edited it: revision {row.number}", why, row.number


def _stepped(row: Step) -> tuple[Any, ...]:
    return row.actor_label, _STEPS[Step.Kind(row.kind)], row.reason


def _approved(row: Approval) -> tuple[Any, ...]:
    basis = "by an authority grant" if row.grant_id else f"{row.full_basis}, without a grant"
    unread = "; did not say which revision was read" if row.words_named is False else ""
    unseen = f"; warnings left open: {len(row.open_warnings)}" if row.open_warnings else ""
    return row.approver, f"approved it as {row.authority} ({basis}{unread}{unseen})", row.comment


def _delivered(row: Delivery) -> tuple[Any, ...]:
    return label_of(row.recorded_by), f"delivered it: {row.get_channel_display().lower()}"


def _came_back(row: Delivery) -> tuple[Any, ...]:
    return "The letter", "came back", row.returned_because


_SOURCES: list[tuple[Callable[[Notice], QuerySet[Any]], str, Callable[[Any], tuple[Any, ...]]]] = [
    (lambda notice: notice.revisions.defer("content", "cited"), "created_at", _revised),
    (lambda notice: notice.steps.all(), "created_at", _stepped),
    (
        lambda notice: Approval.objects.for_organization(notice.organization_id).filter(notice=notice),
        "created_at",
        _approved,
    ),
    (lambda notice: notice.deliveries.all(), "delivered_at", _delivered),
    (lambda notice: notice.deliveries.all(), "returned_at", _came_back),
]


def _place(cursor: str) -> Place | None:
    match = _CURSOR.fullmatch(cursor)
    try:
        at = datetime.fromisoformat(match.group(1)) if match else None
    except ValueError:
        return None
    return Place(at, int(match.group(2)), int(match.group(3))) if match and at and at.tzinfo else None
