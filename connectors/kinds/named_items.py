"""Passes over sources that hold things by name: objects of a bucket, files of a folder.

Such a source does not say what is new. Neither modification times nor names show the order of arrival: `mv` keeps the
time, and a multipart upload has the time at which it started. So a pass lists all names and reads the versions that the
ledger does not have. In doubt it reads an object again, which does no harm.

The cursor is a place within a pass:

    page       where to continue in the listing
    object     name, version and number of items of an object that was read in part
    tail       between full listings of a large source: the last name, and the time of the last full listing
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from connectors import formats
from connectors.formats import Item
from connectors.kinds.base import Batch, Cursor, LedgerEntry, Source, SourceFault
from connectors.kinds.batch_bounds import BATCH_BYTES, BATCH_LEDGER, BATCH_SECONDS

FULL_LISTING_SECONDS = 3600
SMALL = 5000
"""A source of at most so many names is listed in full by every pass."""


class Stored(NamedTuple):
    """An object or a file, as it was listed."""

    name: str
    version: str
    modified: float
    """Seconds since 1970, for display only."""
    size: int = 0


class Page(NamedTuple):
    """A part of the listing, in the order of names."""

    start: str
    """The name or marker before the page; "" is the beginning."""
    things: list[Stored]


class Store(Protocol):
    """A source that holds things by name."""

    can_start_after_a_name: bool
    """Whether a page may begin after any name, or only where another page ended."""

    def pages(self, start: str) -> Iterator[Page]:
        """Yield the pages of the listing from `start` on. Raises SourceFault."""
        ...

    def chunks(self, thing: Stored) -> Iterable[bytes] | None:
        """Return the bytes of this version, or None if the version is gone. Raises SourceFault."""
        ...

    def is_finished(self, thing: Stored) -> bool:
        """Whether the bytes just read were the whole version, so that it goes into the ledger."""
        ...


def read(source: Source[Any], cursor: Cursor, store: Store) -> Iterator[Batch]:
    """Read one pass, or the remainder of one."""
    return _Pass(source, cursor, store).batches()


class _Pass:
    def __init__(self, source: Source[Any], cursor: Cursor, store: Store) -> None:
        self._source, self._store = source, store
        self._tail: dict[str, Any] = cursor.get("tail") or {}
        self._partly: dict[str, Any] = cursor.get("object") or {}
        self._start = cursor.get("page") or self._start_of_pass()
        self._place: dict[str, Any] = {}
        """The cursor for the pending batch."""
        self._pending = _Pending()

    def batches(self) -> Iterator[Batch]:
        try:
            yield from self._pages()
        except SourceFault:
            if self._pending:
                yield self._batch()
            raise

    def _pages(self) -> Iterator[Batch]:
        """Yield batches. Even without time left, each poll reads one new object or one page."""
        count, last = 0, self._tail.get("after", "") if self._start else ""
        for page in self._store.pages(self._start):
            self._place = {"page": page.start, "tail": self._tail}
            if page.start != self._start and self._is_over():
                yield self._batch()
                return
            unread = self._source.unread([_entry(thing) for thing in page.things])
            for thing in page.things:
                if _entry(thing) in unread:
                    yield from self._read(thing)
                    if self._is_over():
                        yield self._batch()
                        return
            count += len(page.things)
            last = max([last, *(thing.name for thing in page.things)])
        self._place = self._end(count, last)
        yield self._batch()

    def _start_of_pass(self) -> str:
        """Return where to start listing: a small source in full, a large one for a while from its last name on."""
        age = time.time() - self._tail.get("listed", 0)
        return self._tail["after"] if 0 <= age < FULL_LISTING_SECONDS else ""

    def _end(self, count: int, last: str) -> dict[str, Any]:
        """Return the cursor after the pass."""
        if self._start:
            return {"tail": {**self._tail, "after": last}} if self._tail else {}
        is_large = count > SMALL and self._store.can_start_after_a_name
        return {"tail": {"after": last, "listed": int(time.time())}} if is_large else {}

    def _read(self, thing: Stored) -> Iterator[Batch]:
        chunks = self._store.chunks(thing)
        if chunks is None:
            return
        known = self._items_read_before(thing)
        if known:
            self._place["object"] = self._partly
        items = formats.items(self._in_time(thing, chunks), self._source.config.format, thing.name, first=known + 1)
        for number, item in enumerate(items, start=known + 1):
            self._pending.add(item, thing)
            self._place["object"] = {"name": thing.name, "version": thing.version, "items": number}
            if self._is_full():
                yield self._batch()
                if self._is_over():
                    return
        if self._store.is_finished(thing):
            self._pending.finished.append(_entry(thing))
        self._place.pop("object", None)
        if self._is_full():
            yield self._batch()

    def _in_time(self, thing: Stored, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield chunks until the deadline, and at least one. Raises SourceFault: the deadline passed."""
        for number, chunk in enumerate(chunks):
            if number and self._is_over():
                raise SourceFault(
                    f"{thing.name} took too long to read.",
                    fix="No action needed; it will be retried. If it persists, split the file or use faster storage.",
                    cause="transient",
                )
            yield chunk

    def _items_read_before(self, thing: Stored) -> int:
        is_this = (self._partly.get("name"), self._partly.get("version")) == (thing.name, thing.version)
        return self._partly["items"] if is_this else 0

    def _is_full(self) -> bool:
        return self._is_over() or self._pending.is_full(self._source.batch_items)

    def _is_over(self) -> bool:
        return time.monotonic() >= self._source.deadline

    def _batch(self) -> Batch:
        pending, self._pending = self._pending, _Pending()
        behind = None if pending.newest is None else max(time.time() - pending.newest, 0.0)
        return Batch(pending.items, {k: v for k, v in self._place.items() if v}, behind, tuple(pending.finished))


def _entry(thing: Stored) -> LedgerEntry:
    return LedgerEntry(thing.name, thing.version)


@dataclass
class _Pending:
    """A batch under construction."""

    items: list[Item] = field(default_factory=list)
    finished: list[LedgerEntry] = field(default_factory=list)
    bytes: int = 0
    newest: float | None = None
    began: float = field(default_factory=time.monotonic)

    def __bool__(self) -> bool:
        return bool(self.items or self.finished)

    def add(self, item: Item, thing: Stored) -> None:
        self.items.append(item)
        self.bytes += len(item.raw)
        self.newest = max(self.newest or thing.modified, thing.modified)

    def is_full(self, max_items: int) -> bool:
        return (
            len(self.items) >= max_items
            or len(self.finished) >= BATCH_LEDGER
            or self.bytes >= BATCH_BYTES
            or time.monotonic() - self.began >= BATCH_SECONDS
        )
