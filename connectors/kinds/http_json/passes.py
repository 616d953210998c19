"""A pass over all pages of an API, and where the next pass begins.

The cursor:

    place      the page to go on with, while a pass is not finished
    page       number and digest of the items of that page that are in custody already
    since      what the source was told to leave out, in this pass
    highest    the highest value seen of what `since` compares
    all        when everything was last read, without `since`
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
from connectors.kinds.http_json.answers import Client, Gone, Response
from connectors.kinds.http_json.memory import Memory
from connectors.kinds.http_json.pagination import Place, pages, with_parameter
from connectors.kinds.limits import BATCH_BYTES

_Value = datetime | int
_EVERYTHING_SECONDS = 24 * 3600
"""What one wrong value made `since` leave out is read after this time."""
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_DIGITS = 30
_MOST_EMPTY = 20
"""Empty pages in a row, after which the next poll goes on: a filter may leave some empty, and a feed has no end."""


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
        self._all: int = cursor.get("all", 0)
        if self._place is None and not 0 <= time.time() - self._all < _EVERYTHING_SECONDS:
            self._since = self._highest = None

    def batches(self) -> Iterator[Batch]:
        client = Client(self._source)
        read = empty = 0
        before: str | None = None
        while empty < _MOST_EMPTY and not (read and self._is_over()):
            response = self._response(client, is_first=not read)
            place = self._place
            if response is None:
                count = yield from self._unchanged_page()
            else:
                digest = self._memory.digest(response)
                repeats = digest == before  # then the source ignores the parameter
                items = iter(()) if repeats else self._items(response, read + 1)
                count = yield from self._page(response, items, digest)
                before = digest
            if self._place in (None, place) or self._partly:
                return
            read, empty = read + 1, 0 if count else empty + 1

    def _is_over(self) -> bool:
        return time.monotonic() >= self._source.deadline

    def _response(self, client: Client, *, is_first: bool) -> Response | None:
        """Return the page at the place, or None if it has not changed since it was read.

        A place of an earlier poll may be good no more: then a new pass begins.
        """
        try:
            return self._asked(client)
        except Gone as fault:
            if self._place is None:
                raise
            if is_first:
                self._place = None
                self._forget_failed_steps()
                return self._asked(client)
            if self._pages.ends_with_not_found:
                self._forget_failed_steps()
                return Response(self._url(), {}, b"", self._source.deadline)
            raise fault

    def _asked(self, client: Client) -> Response | None:
        known = self._memory.known(self._url())
        return client.get(self._url(), known.validators if known else {})

    def _forget_failed_steps(self) -> None:
        self._source.steps[:] = [step for step in self._source.steps if step.ok]

    def _url(self) -> str:
        url = self._config.url
        if self._config.since and self._since is not None:
            url = with_parameter(url, self._config.since.parameter, self._since)
        return self._pages.url(url, self._place)

    def _items(self, response: Response, number: int) -> Iterator[Item]:
        with self._source.step("listed", "The answer has a list."):
            items = response.items(self._config, self._pages.name(self._place, number))
        origin = self._memory.name(response.url)
        return (item._replace(origin=origin) for item in items)

    def _unchanged_page(self) -> Generator[Batch, None, int]:
        """Pass over a page that has not changed, as the source says. Returns the number of its items."""
        with self._source.step("listed", "The answer has not changed."):
            known = self._memory.known(self._url())
        items, named = (known.items, known.named) if known else (0, None)
        self._move(named, items)
        yield self._batch([])
        return items

    def _page(self, response: Response, items: Iterator[Item], digest: str) -> Generator[Batch, None, int]:
        """Read the page in batches. Returns the number of its items. Only the last batch leads to the next page."""
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
        if fault:
            yield self._batch(pending)
            raise fault
        self._move(named, count)
        yield self._batch(pending, (self._memory.entry(response, digest, named, count),))
        return count

    def _move(self, named: Place, count: int) -> None:
        """Go to the next page."""
        self._partly = {}
        self._place = self._pages.next(self._place, named, count)
        if self._place is None:
            self._end()

    def _named(self, response: Response) -> tuple[Place, SourceFault | None]:
        """The next place that the answer names. A fault is shown at once, and raised after the items."""
        try:
            return self._pages.named(response), None
        except SourceFault as fault:
            with suppress(SourceFault), self._source.step("reading", ""):
                raise
            return None, fault

    def _end(self) -> None:
        """The next poll begins a new pass."""
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
        cursor = {"place": self._place, "page": self._partly or None}
        if self._config.since:
            cursor |= {"since": self._since, "highest": highest, "all": self._all or None}
        return Batch(items, {key: value for key, value in cursor.items() if value is not None}, behind, ledger)


def _text(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _value(found: Any) -> _Value | None:
    """A time or a whole number; None of anything else, and of what is no usable position, such as the year 1."""
    if isinstance(found, bool):
        return None
    if isinstance(found, int):
        return found if abs(found) < 10**_MOST_DIGITS else None
    try:
        read = datetime.fromisoformat(found)
        value = (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        return None
    return value if value >= _EARLIEST else None


def _higher(known: _Value | None, value: _Value) -> _Value:
    """Times and numbers do not compare: the settings have changed, and the new value counts."""
    if isinstance(known, datetime) and isinstance(value, datetime):
        return max(known, value)
    return max(known, value) if isinstance(known, int) and isinstance(value, int) else value


def _behind(highest: _Value, lag: int) -> _Value:
    """A time that is yet to come moves nothing: else what comes before it would be left out."""
    if isinstance(highest, datetime):
        return min(highest, datetime.now(UTC)) - timedelta(seconds=lag)
    return highest - lag


def _parameter(value: _Value) -> str | int:
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value
