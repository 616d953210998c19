"""The kinds of record that custody keeps.

Custody knows nothing of decisions or notices. An app above it registers each of its kinds with a function that makes
the index row of a record, so that the row commits together with custody and can be made again from the vault.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Model


@dataclass(frozen=True, slots=True)
class Indexing:
    """What an index row is made from. `content` is the parsed record, numbers as the bytes that spell them."""

    record_id: uuid.UUID
    organization_id: uuid.UUID
    kind: str
    content: dict[str, Any]
    received_at: datetime
    source: str


IndexRow = Callable[[Indexing], Model]
"""Makes the unsaved index row of a record; its primary key is the record id."""


@dataclass(frozen=True, slots=True)
class _Kind:
    index_row: IndexRow
    prefix: str


_KINDS: dict[str, _Kind] = {}


def register(name: str, index_row: IndexRow, *, ids_of_callers: bool = False) -> None:
    """Add a kind of record.

    Args:
        ids_of_callers: its records share the one space of `decision_id`, which callers choose. Those of other kinds
            are ours: they begin with a character that no `decision_id` may hold, so that no caller can take one.
    """
    _KINDS[name] = _Kind(index_row, "" if ids_of_callers else f"\x00{name}:")


def index_row(record: Indexing) -> Model:
    return _KINDS[record.kind].index_row(record)


def identity(kind: str, name: str) -> str:
    """What the id of a new record is made from. Raises ValueError for a name that no record may have."""
    if "\x00" in name:
        raise ValueError("an identity cannot hold U+0000")
    return _KINDS[kind].prefix + name
