"""The history of a notice in pages, because a notice may have thousands of revisions."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import IntegerField, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.back_office import label_of
from config import db
from notices.models import Approval, Delivery, Notice, NoticeRevision, Step
from notices.selectors import RESTORER

A_PAGE = 50
_STEPS = {
    Step.Kind.SUBMITTED: _("<bdi>{who}</bdi> sent it for review"),
    Step.Kind.CHANGES_REQUESTED: _("<bdi>{who}</bdi> asked for changes"),
    Step.Kind.READDRESSED: _("<bdi>{who}</bdi> changed to whom the approved letter goes"),
    Step.Kind.WITHDRAWN: _("<bdi>{who}</bdi> withdrew it"),
}
_UNKNOWN = _("Who wrote them, earlier revisions, deliveries and withdrawals are not in custody: they are unknown.")
_REVISED, _STEPPED, _APPROVED, _DELIVERED, _RETURNED = range(5)
_FIELDS = {(model, field.name): field for model in (NoticeRevision, Step) for field in model._meta.concrete_fields}
_COLUMNS = [
    *(_FIELDS[NoticeRevision, name] for name in ("created_at", "number", "id", "author_label", "number")),
    *(_FIELDS[Step, name] for name in ("kind", "reason")),
]
"""Fields that convert what `_stored` reads."""
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
    sentence: SafeString
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


def page(notice: Notice, deliveries: Iterable[Delivery], *, before: str = "") -> Timeline:
    """Return the newest events, or the newest before those of another page.

    Args:
        deliveries: of the notice.
        before: that page's `earlier`. An invalid cursor counts as none.
    """
    place = _place(before)
    loaded = (event for event in _loaded(notice, deliveries) if place is None or event.place < place)
    events = [*_stored(notice, place), *loaded]
    events.sort(key=lambda event: event.place)
    newest = events[-A_PAGE:]
    return Timeline(newest, newest[0].place.cursor() if len(events) > A_PAGE else "", newest=place is None)


def _stored(notice: Notice, before: Place | None) -> Iterator[Event]:
    """Yield the newest revisions and steps, from one query: one more of each than fits on a page."""
    number = Value(0, IntegerField())
    reasons = Cast("not_applicable", TextField())
    parts = [
        _newest(notice.revisions.all(), _REVISED, before, "author_label", "number", "author_id", reasons),
        _newest(notice.steps.all(), _STEPPED, before, "actor_label", number, "kind", "reason"),
    ]
    sql = " UNION ALL ".join(f"SELECT * FROM ({part}) AS part_{n}" for n, (part, _values) in enumerate(parts))  # noqa: S608
    for row in db.fetch_all(sql, [value for _part, values in parts for value in values], _COLUMNS):
        yield _revised(*row) if row[1] == _REVISED else _stepped(*row)


def _newest(rows: QuerySet[Any], source: int, before: Place | None, *columns: Any) -> tuple[str, tuple[Any, ...]]:
    """Return SQL for the newest events of a source, with their place and the columns."""
    if before:
        earlier = Q(created_at__lt=before.at)
        if source < before.source:
            earlier |= Q(created_at=before.at)
        elif source == before.source:
            earlier |= Q(created_at=before.at, pk__lt=before.pk)
        rows = rows.filter(earlier)
    newest = rows.order_by("-created_at", "-pk").values_list(
        "created_at", Value(source, IntegerField()), "pk", *columns
    )
    return newest[: A_PAGE + 1].query.sql_with_params()


def _revised(at: datetime, source: int, pk: int, who: str, number: int, author_id: str, reasons: str) -> Event:
    place, why = Place(at, source, pk), " ".join(json.loads(reasons).values())
    if author_id == RESTORER.id:
        restored = gettext("Custody restored the approved words as revision {number} after a database restore")
        return Event(place, format_html(restored, number=number), str(_UNKNOWN))
    if number == 1:
        return Event(place, format_html(gettext("<bdi>{who}</bdi> drafted it"), who=who), why)
    edited = format_html(gettext("<bdi>{who}</bdi> edited it: revision {number}"), who=who, number=number)
    return Event(place, edited, why, number)


def _stepped(at: datetime, source: int, pk: int, who: str, _number: int, kind: str, reason: str) -> Event:
    return Event(Place(at, source, pk), format_html(str(_STEPS[Step.Kind(kind)]), who=who), reason)


def _loaded(notice: Notice, deliveries: Iterable[Delivery]) -> Iterator[Event]:
    """Yield the events of rows that come with a notice: its approval and its deliveries."""
    if hasattr(notice, "approval"):
        yield _approved(notice.approval)
    for row in deliveries:
        if row.delivered_at:
            delivered, how = gettext("<bdi>{who}</bdi> delivered it: {how}"), row.get_channel_display().lower()
            sentence = format_html(delivered, who=label_of(row.recorded_by), how=how)
            yield Event(Place(row.delivered_at, _DELIVERED, row.pk), sentence)
        if row.returned_at:
            returned = format_html("{}", gettext("The letter came back"))
            yield Event(Place(row.returned_at, _RETURNED, row.pk), returned, row.returned_because)


def _approved(row: Approval) -> Event:
    if row.grant_id:
        approved = gettext("<bdi>{who}</bdi> approved it as {authority} (by an authority grant)")
    else:
        approved = gettext("<bdi>{who}</bdi> approved it as {authority} ({basis}, without a grant)")
    sentences = [format_html(approved, who=row.approver, authority=row.authority, basis=row.full_basis)]
    if row.words_named is False:
        sentences.append(format_html("{}", gettext("The approval did not say which revision was read")))
    if row.open_warnings:
        left_open = gettext("Warnings left open: {count}")
        sentences.append(format_html(left_open, count=len(row.open_warnings)))
    return Event(
        Place(row.created_at, _APPROVED, row.pk),
        format_html_join(". ", "{}", ((sentence,) for sentence in sentences)),
        row.comment,
    )


def _place(cursor: str) -> Place | None:
    match = _CURSOR.fullmatch(cursor)
    try:
        at = datetime.fromisoformat(match.group(1)) if match else None
    except ValueError:
        return None
    return Place(at, int(match.group(2)), int(match.group(3))) if match and at and at.tzinfo else None
