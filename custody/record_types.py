"""The types of record that custody keeps: one registry, which the apps above fill.

Custody knows nothing of decisions or notices, and what stands beside those apps, such as retention, imports neither.
Both ask here.
"""

import uuid
from collections.abc import Callable, Collection, Iterable
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


class Families(NamedTuple):
    """Families of an organization. A family is the records that stand and fall together, because some build on others:
    those about one first record.

    Statements name what they build on as their parents; everything in a family leads back to its root, a record id.
    Questions are asked about many at once, for each costs a query.
    """

    organization_id: uuid.UUID
    roots: Collection[uuid.UUID]


class Floor(NamedTuple):
    """For how long at least a law asks to keep a family.

    Attributes:
        days: from the moment that a retention policy's days count from.
        source: what asks for it, such as a pack's name.
        citation: of the law.
    """

    days: int
    source: str
    citation: str


class Unsealed(NamedTuple):
    """Row that must have a sealed record and has none. It may still wait for its store."""

    name: str
    problem: str
    is_waiting: bool


def _none_unsealed(organization_id: uuid.UUID) -> Iterable[Unsealed]:
    return ()


def _nothing(families: Families) -> Iterable[Any]:
    return ()


def _of_none(content: dict[str, Any]) -> Iterable[uuid.UUID]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordType:
    """What others need to know of a type of record.

    Attributes:
        name: as statements sign it.
        ids_of_callers: its records share the one space of `decision_id`, which callers choose. Those of other types are
            ours: they begin with a character that no `decision_id` may hold, so that no caller can take one.
        index_row: makes the unsaved row that commits together with custody and can be made again from the vault; its
            primary key is the record id.
        index: the model of these index rows.
        page: of the back office.
        root: the id of the first record of the family that a record of this type belongs to.
        members: the ids of its records in families, each after the root of its family; oldest first in each.
        counts_from: of each family about which it keeps something, from when the days of a retention policy count.
        floors: for how long laws ask to keep families, because of what this type keeps about them.
        all_floors: the floors that there can be, for those who set a policy.
        obstacles: sentences that say why what it keeps about a family cannot be disposed of now.
        candidates: of the type with which families begin, the roots of an organization's families that counted from
            before a moment if nothing has happened in them since: those after a root, in the order of their ids and
            read as they are used.
        lock: let nobody change what it keeps about families until the transaction ends.
        erase: remove what it keeps about them in the clear, in the transaction that disposes of their records.
        export: what it keeps about the families, as the person whom it concerns may have it: objects for JSON. One
            whose record cannot be read says why as `missing`.
        readable: one of these objects as HTML, for people who know none of our words.
        families_about: the roots of the families about whom an organization calls by this reference.
        parents: the ids of the records that a record builds on, from its content.
        inspect: problems of what it keeps about a record beside its index row, from the record's bytes.
        unsealed: rows of an organization that must have a record of this type and have none.
    """

    name: str
    ids_of_callers: bool = False
    index_row: Callable[[Indexing], Model]
    index: type[Model]
    page: Page
    root: Callable[[Entry], uuid.UUID]
    members: Callable[[Families], Iterable[tuple[uuid.UUID, uuid.UUID]]]
    counts_from: Callable[[Families], Iterable[tuple[uuid.UUID, datetime]]] = _nothing
    floors: Callable[[Families], Iterable[tuple[uuid.UUID, Floor]]] = _nothing
    all_floors: Callable[[], Iterable[Floor]] = tuple
    obstacles: Callable[[Families], Iterable[tuple[uuid.UUID, str]]] = _nothing
    candidates: Callable[[uuid.UUID, datetime, uuid.UUID], Iterable[uuid.UUID]] | None = None
    lock: Callable[[Families], object] = _nothing
    erase: Callable[[Families], object] = _nothing
    export: Callable[[Families], Iterable[dict[str, Any]]]
    readable: Callable[[dict[str, Any]], str]
    families_about: Callable[[uuid.UUID, str], Iterable[uuid.UUID]]
    parents: Callable[[dict[str, Any]], Iterable[uuid.UUID]] = _of_none
    inspect: Callable[[Entry, bytes], Iterable[str]] | None = None
    unsealed: Callable[[uuid.UUID], Iterable[Unsealed]] = _none_unsealed


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
