"""Cache of rows that every request needs: keys, storage targets, API keys.

When a watched row changes, a trigger replaces one mark in the database, in the same transaction (see
`config.change_triggers`). A process reads the mark at most once a second, for all organizations, and serves values read
under that mark. So a change takes effect in every process within a second.
"""

import math
import os
import time
from collections import OrderedDict
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

from config import db
from config.models import ChangeMark

SECONDS = 1.0
"""Interval at which a process reads the mark again."""
_MAX_AGE_SECONDS = 30.0
"""Age at which a value is read again anyway: replication and `pg_restore --disable-triggers` fire no trigger."""

_SQL = f"SELECT mark FROM {ChangeMark._meta.db_table}"  # noqa: S608 - the name of a table
_COLUMNS = [ChangeMark._meta.get_field("mark")]

K = TypeVar("K")
V = TypeVar("V")


class _Asked(NamedTuple):
    mark: str
    at: float


_asked = _Asked("", -math.inf)


def mark() -> str:
    """Return the mark, at most a second old. Call this before reading rows to remember under it.

    If a change commits between the two, the rows are newer than their mark, and are only read once more.
    """
    return _asked.mark if is_known() else ask()


def ask(_: object = None) -> str:
    """Return the mark from the database."""
    global _asked
    now = time.monotonic()
    current = _read()
    _asked = _Asked(current, now)
    return current


def is_known() -> bool:
    """Whether this process has read the mark within the last second."""
    return time.monotonic() < _asked.at + SECONDS


def forget() -> None:
    """Make this process read the mark again."""
    global _asked
    _asked = _Asked("", -math.inf)


def _read() -> str:
    return next((mark for (mark,) in db.fetch_all(_SQL, [], _COLUMNS)), "")


class _Row(NamedTuple, Generic[V]):
    value: V
    mark: str
    until: float


class Remembered(Generic[K, V]):
    """Cached values by key. A value is valid until the mark changes.

    Args:
        limit: values in memory. The least recently used is dropped first.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._rows: OrderedDict[K, _Row[V]] = OrderedDict()
        self._lock = Lock()
        os.register_at_fork(after_in_child=self._renew)

    def get(self, key: K) -> V | None:
        """Return the value if it is known to be valid, else None, without a query."""
        row, now = self._rows.get(key), time.monotonic()
        if row is None or not is_known() or row.mark != _asked.mark or now >= row.until:
            return None
        with self._lock:
            if key in self._rows:
                self._rows.move_to_end(key)
        return row.value

    def last(self, key: K) -> V | None:
        """Return the value last read, valid or not."""
        row = self._rows.get(key)
        return row.value if row else None

    def add(self, key: K, value: V, mark: str) -> None:
        """Remember a value under the mark that was read before the value.

        Values read within a transaction are not remembered, because the transaction may roll back.
        """
        if db.in_transaction():
            return
        with self._lock:
            self._rows[key] = _Row(value, mark, time.monotonic() + _MAX_AGE_SECONDS)
            self._rows.move_to_end(key)
            while len(self._rows) > self.limit:
                self._rows.popitem(last=False)

    def pop(self, key: K) -> None:
        with self._lock:
            self._rows.pop(key, None)

    def clear(self) -> None:
        with self._lock:
            self._rows.clear()

    def _renew(self) -> None:
        """Start empty in a forked process, where another thread's lock would never be released."""
        self._lock = Lock()
        self._rows.clear()


os.register_at_fork(after_in_child=forget)
