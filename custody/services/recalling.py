"""Restore of the row of a single record that its vault still holds, for example after a database restore."""

import uuid

from custody import objects, vaults
from custody.keys.keyrings import keyring
from custody.models import Entry
from custody.sealing import sealer
from custody.services.complete import StoredObject, adopt_or_log
from custody.vaults import storage_targets


def recall(*, organization_id: uuid.UUID, identity: str) -> None:
    """Restore one record's row if the current vault has its object and the database has no row.

    Args:
        identity: the input of its id.

    Raises:
        VaultUnavailable: the vault does not answer.
    """
    record_id = sealer.record_id(sealer.reference(keyring(organization_id), identity))
    if Entry.objects.for_organization(organization_id).filter(pk=record_id).exists():
        return
    target_id = storage_targets.current(organization_id).pk
    if objects.has(vaults.of(target_id), organization_id, record_id):
        adopt_or_log(StoredObject(organization_id, record_id, target_id))
