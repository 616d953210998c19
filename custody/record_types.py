"""Registry of record types, which apps above custody fill.

Custody does not import decisions or notices, and neither do their neighbours, such as retention. They all use this
registry.
"""

import uuid
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.core.exceptions import ImproperlyConfigured
from django.db.models import Model, QuerySet

from custody.models import Entry


@dataclass(frozen=True, slots=True)
class Indexing:
    """The input of an index row. `content` is the parsed record, with numbers as the bytes that spell them."""

    record_id: uuid.UUID
    organization_id: uuid.UUID
    kind: str
    content: dict[str, Any]
    received_at: datetime
    source: str


class Page(NamedTuple):
    """The back office's page about a record: the row of `model` whose `column` is the record id."""

    model: type[Model]
    column: str = "pk"


class Families(NamedTuple):
    """Families of an organization. A family is a first record with all records that build on it; they are kept and
    disposed of together.

    Statements name their parents, so everything in a family leads back to its root, a record id. Each call serves many
    families, because each call costs a query.
    """

    organization_id: uuid.UUID
    roots: Collection[uuid.UUID]


class Floor(NamedTuple):
    """The shortest time for which a law requires a family to be kept.

    Attributes:
        days: length of this time; it begins like that of the retention policy.
        source: origin of the requirement, such as a pack's id.
        citation: the law.
        name: the source in words.
    """

    days: int
    source: str
    citation: str
    name: str


class Unsealed(NamedTuple):
    """A row whose sealed record is missing. It may still wait for its store."""

    name: str
    problem: str
    is_waiting: bool


def _none_unsealed(organization_id: uuid.UUID) -> Iterable[Unsealed]:
    return ()


def _nothing(families: Families) -> Iterable[Any]:
    return ()


def _of_none(content: dict[str, Any]) -> Iterable[uuid.UUID]:
    return ()


def _nothing_to_restore(record: Indexing, payload: bytes) -> Callable[[], object]:
    return tuple


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordType:
    """A type of record, with the functions that custody and other apps use to handle it.

    Attributes:
        name: the name that statements sign.
        ids_of_callers: its records share one space of `decision_id`, which callers choose. The ids of other types begin
            with a character that no `decision_id` may have, so that no caller can take one.
        index_row: makes the unsaved index row, which commits together with custody and can be rebuilt from the vault;
            its primary key is the record id.
        index: the model of these index rows.
        page: the back office's page.
        root: the id of the first record of a record's family.
        members: the ids of the type's records in families, each after the root of its family; the oldest comes first.
        periods: rows with the root of each family that has data of this type, when the days of a retention policy
            begin, and the source of a floor or an empty string. The rows of all types are read in one query.
        all_floors: all possible floors, each with a different source.
        obstacles: sentences that say why a family's data of this type cannot be disposed of now.
        candidates: for the type with which families begin: the roots whose families counted from before a moment,
            unless something has happened in them since. They come after a given root, ordered by id, and are read as
            they are used.
        lock: locks the families' data of this type until the transaction ends.
        erase: removes their clear-text data, in the transaction that disposes of their records.
        export: the families' data of this type for the person concerned: objects for JSON. An object whose record
            cannot be read gives the reason as `missing`.
        readable: one of these objects as HTML, for people who do not know our terms.
        families_about: the roots of the families whose person has this reference in an organization.
        parents: the ids of the records that a record builds on, from its content.
        restore: reads a record whose row the database has lost, and returns a function that saves the rows its index
            row refers to, as far as the record proves them. Both run before the index row is saved; the function runs
            in the same transaction.
        inspect: problems of a record's data outside its index row, from the record's bytes.
        unsealed: an organization's rows whose record of this type is missing.
    """

    name: str
    ids_of_callers: bool = False
    index_row: Callable[[Indexing], Model]
    index: type[Model]
    page: Page
    root: Callable[[Entry], uuid.UUID]
    members: Callable[[Families], Iterable[tuple[uuid.UUID, uuid.UUID]]]
    periods: Callable[[Families], QuerySet[Any, tuple[uuid.UUID, datetime, str]]] | None = None
    all_floors: Callable[[], Iterable[Floor]] = tuple
    obstacles: Callable[[Families], Iterable[tuple[uuid.UUID, str]]] = _nothing
    candidates: Callable[[uuid.UUID, datetime, uuid.UUID], Iterable[uuid.UUID]] | None = None
    lock: Callable[[Families], object] = _nothing
    erase: Callable[[Families], object] = _nothing
    export: Callable[[Families], Iterable[dict[str, Any]]]
    readable: Callable[[dict[str, Any]], str]
    families_about: Callable[[uuid.UUID, str], Iterable[uuid.UUID]]
    parents: Callable[[dict[str, Any]], Iterable[uuid.UUID]] = _of_none
    restore: Callable[[Indexing, bytes], Callable[[], object]] = _nothing_to_restore
    inspect: Callable[[Entry, bytes], Iterable[str]] | None = None
    unsealed: Callable[[uuid.UUID], Iterable[Unsealed]] = _none_unsealed


_REGISTERED: dict[str, RecordType] = {}


def register(*types: RecordType) -> None:
    """Add types of record; apps call this from their `ready()`.

    Raises:
        ImproperlyConfigured: a name is taken.
    """
    for record_type in types:
        if record_type.name in _REGISTERED:
            raise ImproperlyConfigured(f"There are two types of record with the name {record_type.name!r}.")
        _REGISTERED[record_type.name] = record_type


def registered() -> list[RecordType]:
    """Return all record types. A type follows the types that it builds on."""
    return list(_REGISTERED.values())


def get(name: str) -> RecordType:
    """Return a record type. Raises KeyError."""
    return _REGISTERED[name]


def index_row(record: Indexing) -> Model:
    return get(record.kind).index_row(record)


def identity(type_name: str, name: str) -> str:
    """Return the text from which a new record's id is made. Raises ValueError: no record may have this name."""
    if "\x00" in name:
        raise ValueError("an identity cannot hold U+0000")
    return name if get(type_name).ids_of_callers else f"\x00{type_name}:{name}"
