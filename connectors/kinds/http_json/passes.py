"""Passes over all pages of an API.

The cursor:

    place      the page to continue with, during a pass
    page       number and digest of the items of that page that are already in custody
    since      the value of the `since` parameter in this pass
    highest    the highest value seen of the field that `since` compares
    all        the time of the last full read, without `since`
    trail      a page of this pass, for detecting that the pages lead in a circle
"""

import json
import time
from collections.abc import Generator, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from connectors import formats
from connectors.formats import Item
from connectors.kinds.base import Batch, Cursor, LedgerEntry, Source, SourceFault
from connectors.kinds.batch_bounds import BATCH_BYTES
from connectors.kinds.http_json.answers import Client, Gone, Response
from connectors.kinds.http_json.memory import Known, Memory
from connectors.kinds.http_json.pagination import Place, pages, with_parameter
from connectors.kinds.http_json.trail import Trail

_Value = datetime | int
_EVERYTHING_SECONDS = 24 * 3600
"""Time between full reads, which find the items that `since` left out because of one wrong value."""
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_DIGITS = 30
_MAX_EMPTY_PAGES = 20
"""Empty pages in a row, after which the poll ends: a filter may leave pages empty, and a feed has no end."""


class Pass:
    def __init__(self, source: Source[Any], cursor: Cursor) -> None:
        self._source, self._config = source, source.config
        self._pages = pages(self._config.pagination)
        place = cursor.get("place")
        self._place: Place = place if isinstance(place, self._pages.places) else None  # type: ignore[assignment]
        self._since: str | int | None = cursor.get("since")
        self._highest: _Value | None = _value(cursor.get("highest"))
        self._newest: _Value | None = None
        self._partly: dict[str, Any] = cursor.get("page") or {}
        self._memory = Memory(source)
        self._trail = Trail(cursor.get("trail"))
        self._is_conditional = True
        """Whether pages are asked for only if they have changed."""
        self._all: int = cursor.get("all", 0)
        if self._place is None and not 0 <= time.time() - self._all < _EVERYTHING_SECONDS:
            self._since = self._highest = None

    def batches(self) -> Iterator[Batch]:
        client = Client(self._source)
        read = empty = 0
        before: str | None = None
        while empty < _MAX_EMPTY_PAGES and not (read and self._is_over()):
            response = self._response(client, is_first=not read)
            place = self._place
            known = self._memory.known(response.url)
            if response.is_unchanged and known:
                count, digest = (yield from self._unchanged_page(response, known)), known.digest
            else:
                digest = self._memory.digest(response)
                repeats = digest == before  # the source ignores the parameter
                items = iter(()) if repeats else self._items(response, read + 1)
                count = yield from self._page(response, items, digest)
            before = digest
            if self._place in (None, place) or self._partly:
                return
            read, empty = read + 1, 0 if count else empty + 1

    def _is_over(self) -> bool:
        return time.monotonic() >= self._source.deadline

    def _response(self, client: Client, *, is_first: bool) -> Response:
        """Return the page at the place.

        If the source no longer knows the place of an earlier poll, a new pass begins. That pass trusts no remembered
        page, for one of them may have led to this place.
        """
        try:
            return self._asked(client)
        except Gone as fault:
            if self._place is None:
                raise
            if is_first:
                self._place, self._trail, self._is_conditional = None, Trail(), False
                self._forget_failed_steps()
                return self._asked(client)
            if self._pages.ends_with_not_found:
                self._forget_failed_steps()
                return Response(self._url(self._place), {}, b"", self._source.deadline)
            raise fault

    def _asked(self, client: Client) -> Response:
        """Request the page at the place, and the last page without conditions.

        The last page gets a next one when the list grows, and a source whose ETag covers the list alone answers 304.
        """
        url = self._url(self._place)
        known = self._memory.known(url)
        if known is None or not self._is_conditional or self._pages.is_last(self._place, known.named, known.items):
            return client.get(url, {})
        return client.get(url, known.validators)

    def _forget_failed_steps(self) -> None:
        self._source.steps[:] = [step for step in self._source.steps if step.ok]

    def _url(self, place: Place) -> str:
        url = self._config.url
        if self._config.since and self._since is not None:
            url = with_parameter(url, self._config.since.parameter, self._since)
        return self._pages.url(url, place)

    def _items(self, response: Response, number: int) -> Iterator[Item]:
        with self._source.step("listed", "The answer has a list."):
            items = response.items(self._config, self._pages.name(self._place, number))
        origin = self._memory.name(response.url)
        return (item._replace(origin=origin) for item in items)

    def _unchanged_page(self, response: Response, known: Known) -> Generator[Batch, None, int]:
        """Skip a page that answered 304. Return the number of its items.

        Its own headers lead on; where they name no next page, the page leads to where it led before.
        """
        with self._source.step("listed", "The answer has not changed."):
            named, fault = self._named(response)
        fault = fault or self._move(named or known.named, known.items)
        if fault:
            raise fault
        yield self._batch([])
        return known.items

    def _page(self, response: Response, items: Iterator[Item], digest: str) -> Generator[Batch, None, int]:
        """Yield the page in batches. Return the number of its items. Only the last batch leads to the next page."""
        named, fault = self._named(response)
        known = self._memory.known(response.url)
        is_known = known is not None and known.digest == digest
        done = self._partly["items"] if self._partly.get("digest") == digest else 0
        pending: list[Item] = []
        count = size = 0
        for item in items:
            if len(pending) >= self._source.batch_items or size >= BATCH_BYTES:
                self._partly = {"items": count, "digest": digest}
                yield self._batch(pending)
                if self._is_over():
                    return count
                pending, size = [], 0
            count += 1
            self._look_at(item)
            if count > done and not is_known:
                pending.append(item)
                size += len(item.raw)
        fault = fault or self._move(named, count)
        if pending or not fault:  # a poll may end after each batch, and a fault without one is always raised
            yield self._batch(pending, (self._memory.entry(response, digest, named, count),))
        if fault:
            raise fault
        return count

    def _move(self, named: Place, count: int) -> SourceFault | None:
        """Go to the next page. Return a fault, and stay, if the pass has already been there."""
        place = self._pages.next(self._place, named, count)
        if place not in (None, self._place) and self._trail.leads_back(self._memory.name(self._url(place))):
            return self._shown(
                SourceFault(
                    "The pages lead in a circle: the next page was already read in this pass.",
                    fix="Check pagination, and ask the source's operator for a last page without a next one.",
                )
            )
        self._partly, self._place = {}, place
        if place is None:
            self._end()
        return None

    def _named(self, response: Response) -> tuple[Place, SourceFault | None]:
        """Return the next place that the answer names, and a fault to raise after the items."""
        try:
            return self._pages.named(response), None
        except SourceFault as fault:
            return None, self._shown(fault)

    def _shown(self, fault: SourceFault) -> SourceFault:
        """Show a fault as that of the step `reading`."""
        with suppress(SourceFault), self._source.step("reading", ""):
            raise fault
        return fault

    def _end(self) -> None:
        """End the pass, so that the next poll begins a new one."""
        self._trail = Trail()
        if self._since is None:
            self._all = int(time.time())
        if self._config.since and self._highest is not None:
            self._since = _parameter(_behind(self._highest, self._config.since.lag))

    def _look_at(self, item: Item) -> None:
        if not self._config.since or item.problem:
            return
        raw = formats.values_at(item.raw, [self._config.since.field]).get(self._config.since.field)
        value = _value(_text(raw)) if raw else None
        if value is not None:
            self._highest = _higher(self._highest, value)
            self._newest = _higher(self._newest, value)

    def _batch(self, items: list[Item], ledger: tuple[LedgerEntry, ...] = ()) -> Batch:
        behind = None
        if isinstance(self._newest, datetime):
            behind = max((datetime.now(UTC) - self._newest).total_seconds(), 0.0)
        self._newest = None
        highest = None if self._highest is None else _parameter(self._highest)
        trail = None if self._place is None else self._trail.state
        cursor = {"place": self._place, "page": self._partly or None, "trail": trail}
        if self._config.since:
            cursor |= {"since": self._since, "highest": highest, "all": self._all or None}
        return Batch(items, {key: value for key, value in cursor.items() if value is not None}, behind, ledger)


def _text(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _value(raw: Any) -> _Value | None:
    """Return a time or whole number, or None for any other value and unusable positions such as the year 1."""
    if isinstance(raw, bool):
        return None
    if isinstance(raw, int):
        return raw if abs(raw) < 10**_MAX_DIGITS else None
    try:
        read = datetime.fromisoformat(raw)
        value = (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        return None
    return value if value >= _EARLIEST else None


def _higher(known: _Value | None, value: _Value) -> _Value:
    """Return the higher value. A time and a number do not compare: the settings changed, and the new value counts."""
    if isinstance(known, datetime) and isinstance(value, datetime):
        return max(known, value)
    return max(known, value) if isinstance(known, int) and isinstance(value, int) else value


def _behind(highest: _Value, lag: int) -> _Value:
    """Return the value less the lag. A future time counts as now, so that it hides no later item."""
    if isinstance(highest, datetime):
        return min(highest, datetime.now(UTC)) - timedelta(seconds=lag)
    return highest - lag


def _parameter(value: _Value) -> str | int:
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value
