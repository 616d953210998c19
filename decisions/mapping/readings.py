"""Readings of records by their mapping, and samples to propose one from."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from config.errors import DomainError
from config.http import strict_json
from custody import selectors as custody
from decisions import records
from decisions.mapping import builtin, selectors
from decisions.mapping.models import MappingVersion
from decisions.mapping.selection import Identity
from decisions.models import Decision
from decisions.record.meanings import Entry
from decisions.record.profile import Profile
from decisions.record.walk import Table
from decisions.selectors import record_of

MAX_CUSTODY_SAMPLES = 100
MAX_CUSTODY_BYTES = 4 * 2**20
_AT_ONCE = 100  # records whose bytes are read together


@dataclass(frozen=True, slots=True)
class Reading:
    """The profile of a record, and the version of the mapping that gives it, if one applies."""

    version: MappingVersion | None
    profile: Profile


def read(organization_id: uuid.UUID, record: dict[str, Any], entries: Sequence[Entry] | None = None) -> Reading:
    """Return the reading of a record by these entries, else by the confirmed mapping that applies to it.

    Args:
        record: the record, with numbers as int or Decimal.
    """
    if entries is not None:
        return Reading(None, builtin.read(record, Table(entries)).profile)
    version = version_for(organization_id, record)
    return Reading(version, builtin.read(record, selectors.table(version) if version else None).profile)


def samples(
    organization_id: uuid.UUID,
    system_name: str,
    limit: int = MAX_CUSTODY_SAMPLES,
    max_bytes: int = MAX_CUSTODY_BYTES,
) -> Iterator[dict[str, Any]]:
    """Yield the newest records of a system in custody, at most `limit` with `max_bytes` in all. Records that cannot be
    read are left out."""
    rows = Decision.objects.for_organization(organization_id).filter(kind=records.KIND, system_name=system_name)
    newest = rows.select_related("record").order_by("-received_at", "-record")
    remaining = max_bytes
    for start in range(0, limit, _AT_ONCE):
        chunk = list(newest[start : min(start + _AT_ONCE, limit)])
        read = custody.read_ahead([row.record for row in chunk])
        for row in chunk:
            try:
                payload = custody.opened(record_of(row), read).payload
            except DomainError:
                continue
            remaining -= len(payload)
            if remaining < 0:
                return
            yield strict_json.read(payload, number=Decimal)
        if len(chunk) < _AT_ONCE:
            return


def version_for(organization_id: uuid.UUID, record: dict[str, Any], source: str = "") -> MappingVersion | None:
    """Return the confirmed version that applies to a record, or None.

    Args:
        source: how the record came in, as its index row says; "" of a record that is not in custody.
    """
    identity = Identity(records.text(record, "system", "name"), records.text(record, "system", "version"), source)
    return selectors.applicable(organization_id, identity, record)
