"""Vaults: create-only storage of sealed objects. An object is never replaced."""

import math
import time
import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from django.utils.module_loading import import_string

from config import db
from config.errors import Fault
from custody.models import StorageTarget
from custody.vaults import storage_targets

_PROVIDERS = {
    StorageTarget.Provider.DATABASE: "custody.vaults.database.DatabaseVault",
    StorageTarget.Provider.FILESYSTEM: "custody.vaults.filesystem.FilesystemVault",
    StorageTarget.Provider.AWS: "custody.clouds.aws.vault.S3Vault",
    StorageTarget.Provider.GCP: "custody.clouds.gcp.vault.GcsVault",
    StorageTarget.Provider.AZURE: "custody.clouds.azure.vault.AzureBlobVault",
}


PROBE_BYTES = 4096
"""Size of a usual record, so that a disk that is too full for records fails the probe."""


class VaultUnavailable(Fault):
    """The vault is down or full, or it refuses. Nothing acknowledged is lost, and a retry is safe."""

    code = "vault_unavailable"
    status = 503
    sentence = "The vault does not answer right now. Nothing acknowledged is lost; repeat the same request."


class VaultNotMarked(VaultUnavailable):
    """The vault's place has no marker: its disk is not mounted, or nothing has been put there yet."""

    code = "vault_not_marked"
    sentence = (
        "The vault is not in place. Nothing acknowledged is lost; an administrator must mount its disk, or restore the "
        "marker in its bucket. Then repeat the same request."
    )


class VaultOfAnother(VaultUnavailable):
    """The vault's place has another installation's marker."""

    code = "vault_of_another"
    sentence = (
        "Another installation's vault is in the place of this one's. Nothing acknowledged is lost; an administrator "
        "must mount the right disk, or restore the marker in the bucket. Then repeat the same request."
    )


class ObjectMissing(Fault):
    """There is no object under this key."""

    code = "object_missing"
    sentence = "The stored record is missing from its vault. An administrator must restore the vault from a backup."


class Remains(NamedTuple):
    """The remains of an object after its removal.

    Attributes:
        bodies: the versions that the storage does not let us remove.
        kept_until: end of their locks, if the storage reports it.
        recoverable_until: end of the time in which the storage can restore what was removed.
    """

    bodies: Sequence[bytes] = ()
    kept_until: datetime | None = None
    recoverable_until: datetime | None = None


class Vault(Protocol):
    """Objects by key. Keys are relative paths of lowercase hex digits, '/' and letters; bodies are opaque bytes. A
    vault is made from its storage target, and several threads use it.

    Every method raises VaultUnavailable when the storage does not answer or is full.
    """

    transactional: bool
    """Whether objects commit together with the index, in the database's own transaction."""

    parallel_puts: int
    """Limit of parallel puts: high where each waits for a network, low where all wait for one disk."""

    compares_checksums: bool
    """Whether the storage compares a checksum of the whole object before it confirms a put, so that the object need not
    be read back."""

    may_lock: bool
    """Whether this kind of storage has locks. `immutable` asks whether this one uses them."""

    @property
    def immutable(self) -> bool:
        """Whether objects may be locked against removal."""

    def put_new(self, key: str, body: bytes, *, retain_until: datetime | None = None, lockable: bool = True) -> bool:
        """Store durably, create-only. True if created, False if an object of this key exists.

        Args:
            retain_until: end of the object's lock, where the storage has locks. A longer default lock wins. Storage
                without locks ignores it: anyone with access to it can remove the object.
            lockable: False for an object that must stay removable, even where the storage locks every new object, if it
                allows exceptions.
        """

    def get(self, key: str) -> bytes:
        """Return the body of an object. Raises ObjectMissing."""

    def has(self, key: str) -> bool:
        """Whether there is an object of this key."""

    def delete(self, key: str) -> None:
        """Remove every version. A missing object is no error, a locked one is."""

    def erase(self, key: str) -> Remains:
        """Remove every version that the storage lets us remove, and return the rest. A missing object is no error."""

    def list(self, prefix: str) -> Iterator[str]:
        """Yield the keys below a prefix that ends with '/', in no order."""

    def discard_drafts(self) -> None:
        """Remove the remains of puts that never finished."""

    def probe(self) -> None:
        """Write an object of the size of a usual record, and remove it."""

    def identify(self) -> None:
        """Read from the database what the other methods need: their threads have no connection to it."""


_made: dict[str, Vault] = {}


def of(target_id: str) -> Vault:
    """Return the vault of a storage target. A process makes each once, because targets never change.

    Raises:
        VaultUnavailable: there is no such target.
    """
    vault = _made.get(target_id)
    if vault is None:
        targets = StorageTarget.objects.unscoped("the caller knows the owner of the target")
        target = db.only(targets.filter(pk=target_id))
        if target is None:
            raise VaultUnavailable(because=f"there is no storage target {target_id}")
        vault = _made[target_id] = made_from(target)
    vault.identify()
    return vault


def made_from(target: StorageTarget) -> Vault:
    """Make the vault of a target, which may be unsaved. Raises VaultUnavailable: its configuration is refused."""
    vault: Vault = import_string(_PROVIDERS[StorageTarget.Provider(target.provider)])(target)
    return vault


def current(organization_id: uuid.UUID | None = None) -> Vault:
    """Return the vault for new records of an organization, or of the deployment."""
    return of(storage_targets.current(organization_id).pk)


def external() -> list[str]:
    """Return the ids of the storage targets outside the database."""
    targets = StorageTarget.objects.unscoped("vaults serve every organization")
    return list(targets.exclude(provider=StorageTarget.Provider.DATABASE).values_list("pk", flat=True))


def forget() -> None:
    """Forget this process's vaults and current targets, so that it reads them again."""
    _made.clear()
    storage_targets.forget()


_PROBE_SECONDS = 1
_last_success = -math.inf


def probe() -> None:
    """Check that the deployment's vault can be written. Used by /readyz, which anyone may ask.

    A success counts for a second, because each probe costs a write to the disk.

    Raises:
        VaultUnavailable
    """
    global _last_success
    if time.monotonic() - _last_success < _PROBE_SECONDS:
        return
    current().probe()
    _last_success = time.monotonic()
