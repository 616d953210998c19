"""Reads of mappings."""

import uuid
from functools import lru_cache
from typing import Any

from config.errors import NotFound
from decisions.mapping import selection
from decisions.mapping.models import Mapping, MappingVersion
from decisions.mapping.selection import Identity
from decisions.record.meanings import Entry
from decisions.record.walk import Table


def mapping(organization_id: uuid.UUID, mapping_id: int) -> Mapping:
    """Return a mapping of an organization. Raises NotFound."""
    row = Mapping.objects.for_organization(organization_id).filter(pk=mapping_id).first()
    if row is None:
        raise NotFound
    return row


def version(organization_id: uuid.UUID, mapping_id: int, number: int) -> MappingVersion:
    """Return a version of a mapping of an organization. Raises NotFound."""
    versions = MappingVersion.objects.for_organization(organization_id).select_related("mapping")
    row = versions.filter(mapping_id=mapping_id, number=number).first()
    if row is None:
        raise NotFound
    return row


def applicable(organization_id: uuid.UUID, identity: Identity, record: dict[str, Any]) -> MappingVersion | None:
    """Return the newest confirmed version of the mapping that applies to a record, or None."""
    confirmed = MappingVersion.objects.for_organization(organization_id).exclude(confirmed_at=None)
    newest: dict[int, MappingVersion] = {}
    for version in confirmed.select_related("mapping").defer("entries").order_by("number"):
        newest[version.mapping_id] = version
    chosen = selection.best((version.mapping for version in newest.values()), identity, record)
    return newest[chosen.pk] if chosen else None


def table(version: MappingVersion) -> Table:
    """Return the entries of a version, ready to be matched."""
    return _table(version.pk, version.digest)


def paths(version: MappingVersion) -> frozenset[str]:
    """Return the paths of a version's entries."""
    return _paths(version.pk, version.digest)


@lru_cache(maxsize=256)
def _paths(version_id: int, digest: str) -> frozenset[str]:
    rows = MappingVersion.objects.unscoped("the caller has the version already").values_list("entries", flat=True)
    return frozenset(entry["path"] for entry in rows.get(pk=version_id))


@lru_cache(maxsize=256)
def _table(version_id: int, digest: str) -> Table:
    """Return the table of a version. After a database restore, another version may get its id, with another digest."""
    rows = MappingVersion.objects.unscoped("the caller has the version already").values_list("entries", flat=True)
    return Table(map(Entry.model_validate, rows.get(pk=version_id)))
