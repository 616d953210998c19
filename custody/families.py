"""What all types of record together say of a family: what retention and requests of persons ask."""

import uuid
from datetime import datetime
from typing import Any

from custody import record_types
from custody.models import Entry
from custody.record_types import Family


def family_of(entry: Entry) -> Family:
    """The family that a record belongs to."""
    return Family(entry.organization_id, record_types.get(entry.kind).root(entry))


def families_about(organization_id: uuid.UUID, reference: str) -> set[Family]:
    """The families about whom the organization calls by this reference."""
    roots = {root for each in record_types.registered() for root in each.families_about(organization_id, reference)}
    return {Family(organization_id, root) for root in roots}


def members(family: Family) -> list[uuid.UUID]:
    """The ids of its records. What builds on others comes after them."""
    return [record_id for each in record_types.registered() for record_id in each.family(family)]


def counts_from(family: Family) -> datetime:
    """From when the days of a retention policy count: from the latest moment that any type names."""
    return max(moment for each in record_types.registered() if (moment := each.counts_from(family)))


def obstacles(family: Family) -> list[str]:
    """Sentences that say why it cannot be disposed of now; none if it can."""
    found = [sentence for each in record_types.registered() for sentence in each.obstacles(family)]
    entries = Entry.objects.for_organization(family.organization_id)
    if entries.filter(pk__in=members(family)).exclude(state=Entry.State.STORED).exists():
        found.append("A record is still on its way into its vault.")
    return found


def export(family: Family) -> dict[str, list[dict[str, Any]]]:
    """What is kept about it, by type of record, for the person whom it concerns. Raises Fault if a record cannot be
    read."""
    return {each.name: list(each.export(family)) for each in record_types.registered()}
