"""A kind of source for tests, with items in memory and hooks during reading."""

import json
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from connectors import kinds
from connectors.formats import Item
from connectors.kinds.base import Batch, Cursor, KindConfig, LedgerEntry, Source


class FeedConfig(KindConfig, use_attribute_docstrings=True):
    feed: str = "main"
    needs_secret: bool = False


class Feed:
    """A source of records in batches. It calls `before` with the number of each batch before yielding the batch."""

    name: ClassVar = "directory"
    Config: ClassVar = FeedConfig
    secret: ClassVar = "the feed's password"

    def __init__(self) -> None:
        self.items: list[bytes] = []
        self.batch = 2
        self.before: Callable[[int], Any] = lambda number: None
        self.behind: float | None = None
        self.reads: list[Cursor] = []
        self.secrets: list[str] = []
        self.by_ledger = False
        self.token = ""

    def add(self, *records: Any) -> None:
        self.items += [record if isinstance(record, bytes) else json.dumps(record).encode() for record in records]

    def check(self, config: FeedConfig) -> list[str]:
        return [] if config.feed == "main" else ["config.feed: there is no such feed."]

    def read(self, source: Source[FeedConfig], cursor: Cursor) -> Iterator[Batch]:
        self.reads.append(cursor)
        if source.config.needs_secret:
            self.secrets.append(source.secret())
        with source.step("listed", "The feed was listed."):
            position = cursor.get("position", 0)
        while position < len(self.items):
            self.before(position // self.batch)
            raw_items = self.items[position : position + self.batch]
            items = [
                Item(raw, f"feed, item {position + n}", origin=f"file {position}") for n, raw in enumerate(raw_items, 1)
            ]
            ledger = (LedgerEntry(f"file {position}", "1"),)
            if not self.by_ledger or source.unread(ledger):
                place = {"position": position + len(raw_items)} | ({"token": self.token} if self.token else {})
                yield Batch(items, place, self.behind, ledger if self.by_ledger else ())
            position += len(raw_items)


def install(monkeypatch: Any, feed: Feed) -> None:
    monkeypatch.setattr(kinds, "names", lambda: ["directory"])
    monkeypatch.setattr(kinds, "kind", lambda name: feed)
