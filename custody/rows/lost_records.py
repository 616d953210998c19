"""Records that cannot be read any more, according to the database."""

import uuid
from collections.abc import Collection, Iterable

from custody.models import Damage, Entry, SealedObject, StorageTarget, object_key


def without_object(records: Iterable[tuple[uuid.UUID, uuid.UUID]]) -> set[uuid.UUID]:
    """Return the record ids of pairs of record and organization whose object the database vault lacks."""
    keys = {object_key(organization_id, record_id): record_id for record_id, organization_id in records}
    present = SealedObject.objects.filter(key__in=keys).values_list("key", flat=True)
    return {keys[key] for key in keys.keys() - set(present)}


def lost(organization_id: uuid.UUID, record_ids: Collection[uuid.UUID]) -> set[uuid.UUID]:
    """Return the records that `custody_fsck` reports as damaged, or whose object the database vault lacks."""
    stored = Entry.objects.for_organization(organization_id).filter(pk__in=record_ids, state=Entry.State.STORED)
    here = stored.filter(target__provider=StorageTarget.Provider.DATABASE)
    missing = without_object(here.values_list("pk", "organization_id"))
    names = {str(record_id): record_id for record_id in record_ids}
    damaged = Damage.objects.for_organization(organization_id).filter(name__in=names)
    return missing | {names[name] for name in damaged.values_list("name", flat=True)}
