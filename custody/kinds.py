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

_KINDS: dict[str, IndexRow] = {}


def register(name: str, index_row: IndexRow) -> None:
    _KINDS[name] = index_row


def index_row(record: Indexing) -> Model:
    return _KINDS[record.kind](record)
