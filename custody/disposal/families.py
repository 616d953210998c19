"""What all types of record together say of families: what retention and requests of persons ask."""

import uuid
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

from django.db.models import Q

from custody import record_types
from custody.models import Entry
from custody.record_types import Families, Floor, RecordType

T = TypeVar("T")
FIRST = uuid.UUID(int=0)
"""Every id comes after it."""
_ON_ITS_WAY = "A record is still on its way into its vault."


def root_of(entry: Entry) -> uuid.UUID:
    """The root of the family that a record belongs to."""
    return record_types.get(entry.kind).root(entry)


def roots_about(organization_id: uuid.UUID, reference: str) -> set[uuid.UUID]:
    """The roots of the families about whom the organization calls by this reference."""
    return {root for each in record_types.registered() for root in each.families_about(organization_id, reference)}


def members(families: Families) -> dict[uuid.UUID, list[uuid.UUID]]:
    """The ids of the records of each. What builds on others comes after them."""
    return _by_root(families, lambda each: each.members(families))


def counts_from(families: Families) -> dict[uuid.UUID, datetime]:
    """From when the days of a retention policy count: from the latest moment that any type names."""
    found = _by_root(families, lambda each: each.counts_from(families))
    return {root: max(moments) for root, moments in found.items() if moments}


def floors(families: Families) -> dict[uuid.UUID, list[Floor]]:
    """For how long laws ask to keep each, besides any policy."""
    return _by_root(families, lambda each: each.floors(families))


def all_floors() -> list[Floor]:
    """For how long laws can ask to keep a family, the longest first."""
    found = (floor for each in record_types.registered() for floor in each.all_floors())
    return sorted(found, key=lambda floor: (-floor.days, floor.source))


def obstacles(families: Families) -> dict[uuid.UUID, list[str]]:
    """Sentences that say why each cannot be disposed of now; none if it can."""
    found = _by_root(families, lambda each: each.obstacles(families))
    entries = Entry.objects.for_organization(families.organization_id)
    # Written so that the index of each state serves: as a rule nothing is unfinished.
    unfinished = entries.filter(Q(state=Entry.State.QUEUED) | Q(state=Entry.State.RESERVED))
    if unfinished.exists():
        for root, ids in members(families).items():
            if unfinished.filter(pk__in=ids).exists():
                found[root].append(_ON_ITS_WAY)
    return found


def candidates(
    organization_id: uuid.UUID, before: datetime, *, after: uuid.UUID = FIRST, size: int
) -> Iterator[Families]:
    """The families that counted from before a moment, unless something has happened in them since, a batch at a time.

    Args:
        after: only those whose roots come after this one.
    """
    for each in record_types.registered():
        if each.candidates:
            roots = iter(each.candidates(organization_id, before, after))
            while batch := list(islice(roots, size)):
                yield Families(organization_id, batch)


def count(organization_id: uuid.UUID) -> int:
    """How many families an organization has that are not disposed of."""
    first = [each.name for each in record_types.registered() if each.candidates]
    rows = Entry.objects.for_organization(organization_id).exclude(state=Entry.State.DISPOSED)
    return rows.filter(kind__in=first).count()


def lock(families: Families) -> None:
    """Let nobody change them, or add to them, until the transaction ends."""
    for each in record_types.registered():
        each.lock(families)


def erase(families: Families) -> None:
    """Remove what is kept about them in the clear. What builds on others goes first."""
    for each in reversed(record_types.registered()):
        each.erase(families)


def export(families: Families) -> dict[str, list[dict[str, Any]]]:
    """What is kept about them, by type of record, for the person whom it concerns."""
    return {each.name: list(each.export(families)) for each in record_types.registered()}


def _by_root(
    families: Families, ask: Callable[[RecordType], Iterable[tuple[uuid.UUID, T]]]
) -> dict[uuid.UUID, list[T]]:
    """What all types say, by family; an empty list where they say nothing."""
    found: dict[uuid.UUID, list[T]] = {root: [] for root in families.roots}
    for each in record_types.registered():
        for root, said in ask(each):
            found[root].append(said)
    return found
