"""Questions about families, answered by all record types together, for retention and requests of persons."""

import uuid
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from django.db.models import Q

from custody import record_types
from custody.models import Entry
from custody.record_types import Families, Floor, RecordType

T = TypeVar("T")
FIRST = uuid.UUID(int=0)
"""It precedes every id."""
_ON_ITS_WAY = "A record is still on its way into its vault."


class Retention(NamedTuple):
    """Retention of a family, besides any policy.

    Attributes:
        counts_from: when the days of a policy begin: the latest moment that any type gives.
        floors: for how long laws require the family to be kept.
    """

    counts_from: datetime
    floors: list[Floor]


def root_of(entry: Entry) -> uuid.UUID:
    """Return the root of a record's family."""
    return record_types.get(entry.kind).root(entry)


def roots_about(organization_id: uuid.UUID, reference: str) -> set[uuid.UUID]:
    """Return the roots of the families whose person has this reference in the organization."""
    return {
        root
        for record_type in record_types.registered()
        for root in record_type.families_about(organization_id, reference)
    }


def members(families: Families) -> dict[uuid.UUID, list[uuid.UUID]]:
    """Return the ids of each family's records. A record follows those that it builds on."""
    return _by_root(families, lambda record_type: record_type.members(families))


def retention_of(families: Families) -> dict[uuid.UUID, Retention]:
    """Return the retention of each family that has data."""
    periods = [record_type.periods(families) for record_type in record_types.registered() if record_type.periods]
    floors = {floor.source: floor for floor in all_floors()}
    by_root: dict[uuid.UUID, Retention] = {}
    for root, counts_from, source in periods[0].union(*periods[1:], all=True):
        earlier = by_root.get(root, Retention(counts_from, []))
        laws = [floors[source]] if source in floors else []
        by_root[root] = Retention(max(earlier.counts_from, counts_from), earlier.floors + laws)
    return by_root


def all_floors() -> list[Floor]:
    """Return all possible floors, the longest first."""
    all_of_them = (floor for record_type in record_types.registered() for floor in record_type.all_floors())
    return sorted(all_of_them, key=lambda floor: (-floor.days, floor.source))


def obstacles(families: Families) -> dict[uuid.UUID, list[str]]:
    """Return sentences that say why each family cannot be disposed of now; none if it can."""
    sentences = _by_root(families, lambda record_type: record_type.obstacles(families))
    entries = Entry.objects.for_organization(families.organization_id)
    # Two conditions, so that the index of each state is used: usually nothing is unfinished.
    unfinished = entries.filter(Q(state=Entry.State.QUEUED) | Q(state=Entry.State.RESERVED))
    if unfinished.exists():
        for root, ids in members(families).items():
            if unfinished.filter(pk__in=ids).exists():
                sentences[root].append(_ON_ITS_WAY)
    return sentences


def candidates(
    organization_id: uuid.UUID, before: datetime, *, after: uuid.UUID = FIRST, size: int
) -> Iterator[Families]:
    """Yield the families that counted from before a moment, unless something has happened in them since, in batches.

    Args:
        after: only families whose roots follow this one.
    """
    for record_type in record_types.registered():
        if record_type.candidates:
            roots = iter(record_type.candidates(organization_id, before, after))
            while batch := list(islice(roots, size)):
                yield Families(organization_id, batch)


def count(organization_id: uuid.UUID) -> int:
    """Return how many families of an organization are not disposed of."""
    first = [record_type.name for record_type in record_types.registered() if record_type.candidates]
    rows = Entry.objects.for_organization(organization_id).exclude(state=Entry.State.DISPOSED)
    return rows.filter(kind__in=first).count()


def lock(families: Families) -> None:
    """Lock families against changes and additions until the transaction ends."""
    for record_type in record_types.registered():
        record_type.lock(families)


def erase(families: Families) -> None:
    """Remove their clear-text data. Types that build on others go first."""
    for record_type in reversed(record_types.registered()):
        record_type.erase(families)


def export(families: Families) -> dict[str, list[dict[str, Any]]]:
    """Return their data by record type, for the person concerned."""
    return {record_type.name: list(record_type.export(families)) for record_type in record_types.registered()}


def _by_root(
    families: Families, ask: Callable[[RecordType], Iterable[tuple[uuid.UUID, T]]]
) -> dict[uuid.UUID, list[T]]:
    """Return the answers of all types by family; an empty list if there are none."""
    answers: dict[uuid.UUID, list[T]] = {root: [] for root in families.roots}
    for record_type in record_types.registered():
        for root, answer in ask(record_type):
            answers[root].append(answer)
    return answers
