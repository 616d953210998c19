"""The types of record that custody keeps: one registry, which the apps above fill.

Custody knows nothing of decisions or notices, and what stands beside those apps, such as retention, imports neither.
Both ask here.
"""

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.core.exceptions import ImproperlyConfigured
from django.db.models import Model

from custody.models import Entry


@dataclass(frozen=True, slots=True)
class Indexing:
    """What an index row is made from. `content` is the parsed record, numbers as the bytes that spell them."""

    record_id: uuid.UUID
    organization_id: uuid.UUID
    kind: str
    content: dict[str, Any]
    received_at: datetime
    source: str


class Page(NamedTuple):
    """Where the back office shows what a record is about: at the row of `model` whose `column` holds the record id."""

    model: type[Model]
    column: str = "pk"


class Family(NamedTuple):
    """The records that stand and fall together, because some build on others: those about one first record.

    Statements name what they build on as their parents; everything in a family leads back to `root`, a record id.
    """

    organization_id: uuid.UUID
    root: uuid.UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordType:
    """What others need to know of a type of record.

    Attributes:
        name: as statements sign it.
        ids_of_callers: its records share the one space of `decision_id`, which callers choose. Those of other types are
            ours: they begin with a character that no `decision_id` may hold, so that no caller can take one.
        index_row: makes the unsaved row that commits together with custody and can be made again from the vault; its
            primary key is the record id.
        page: of the back office.
        root: the id of the first record of the family that a record of this type belongs to.
        family: the ids of its records in a family, oldest first.
        counts_from: from when the days of a retention policy count, for what it keeps about a family; None if it keeps
            nothing about it.
        obstacles: sentences that say why what it keeps about a family cannot be disposed of now.
        export: what it keeps about a family, as the person whom it concerns may have it: objects for JSON. Raises Fault
            if a record cannot be read.
        families_about: the roots of the families about whom an organization calls by this reference.
    """

    name: str
    ids_of_callers: bool = False
    index_row: Callable[[Indexing], Model]
    page: Page
    root: Callable[[Entry], uuid.UUID]
    family: Callable[[Family], Iterable[uuid.UUID]]
    counts_from: Callable[[Family], datetime | None]
    obstacles: Callable[[Family], Iterable[str]]
    export: Callable[[Family], Iterable[dict[str, Any]]]
    families_about: Callable[[uuid.UUID, str], Iterable[uuid.UUID]]


_REGISTERED: dict[str, RecordType] = {}


def register(*types: RecordType) -> None:
    """Add types of record; apps call this from their `ready()`.

    Raises:
        ImproperlyConfigured: a name is taken.
    """
    for each in types:
        if each.name in _REGISTERED:
            raise ImproperlyConfigured(f"There are two types of record with the name {each.name!r}.")
        _REGISTERED[each.name] = each


def registered() -> list[RecordType]:
    """All of them. What builds on records of another type comes after that type."""
    return list(_REGISTERED.values())


def get(name: str) -> RecordType:
    """Raises KeyError."""
    return _REGISTERED[name]


def index_row(record: Indexing) -> Model:
    return get(record.kind).index_row(record)


def identity(type_name: str, name: str) -> str:
    """What the id of a new record is made from. Raises ValueError for a name that no record may have."""
    if "\x00" in name:
        raise ValueError("an identity cannot hold U+0000")
    return name if get(type_name).ids_of_callers else f"\x00{type_name}:{name}"
