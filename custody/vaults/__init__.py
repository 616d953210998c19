"""Where sealed objects lie. A vault is create-only: an object, once put, is never replaced."""

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
"""As large as a usual record, so that a disk that takes no record takes no probe."""


class VaultUnavailable(Fault):
    """The vault is down, full or refuses: nothing acknowledged is lost, and trying again later is safe."""

    code = "vault_unavailable"
    status = 503
    sentence = "The vault does not answer right now. Nothing acknowledged is lost; repeat the same request."


class VaultNotMarked(VaultUnavailable):
    """What is at the vault's place has no marker: a disk that is not mounted, or a root that nobody has made yet."""

    code = "vault_not_marked"
    sentence = (
        "The vault is not in place. Nothing acknowledged is lost; an administrator must mount its disk, or restore the "
        "marker in its bucket. Then repeat the same request."
    )


class VaultOfAnother(VaultUnavailable):
    """The marker is another installation's."""

    code = "vault_of_another"
    sentence = (
        "Another installation's vault is in the place of this one's. Nothing acknowledged is lost; an administrator "
        "must mount the right disk, or restore the marker in the bucket. Then repeat the same request."
    )


class ObjectMissing(Fault):
    """There is no object under this key."""

    code = "object_missing"
    sentence = "The stored record is missing from its vault. An administrator must restore the vault from a backup."


class Left(NamedTuple):
    """What remains of an object after its removal.

    Attributes:
        kept: the bodies of those versions that the storage lets nobody remove, or not us.
        kept_until: until when it keeps them, as far as it says so.
        recoverable_until: until when it can bring back what was removed.
    """

    kept: Sequence[bytes] = ()
    kept_until: datetime | None = None
    recoverable_until: datetime | None = None


class Vault(Protocol):
    """Keys are relative paths of lowercase hex digits, '/' and letters; bodies are opaque bytes. A vault is made from
    its storage target, and several threads use it.

    Every method raises VaultUnavailable when the storage does not answer or is full.
    """

    transactional: bool
    """Whether objects commit together with the index, in the database's own transaction."""

    parallel_puts: int
    """How many puts at a time it is given: many where each waits for a network, few where they wait for one disk."""

    compares_checksums: bool
    """Whether what was created is what was sent: the storage compares a checksum of the whole object before it says
    so, and nobody need read it back."""

    may_lock: bool
    """Whether the storage knows locks; whether it uses them here, `immutable` asks it."""

    @property
    def immutable(self) -> bool:
        """Whether objects may be locked, so that nobody can remove them for a while."""

    def put_new(self, key: str, body: bytes, *, retain_until: datetime | None = None, lockable: bool = True) -> bool:
        """Store durably, create-only. True if created, False if an object of this key exists.

        Args:
            retain_until: where the storage can lock objects, until when it must let nobody remove this one; what it
                locks by default is locked for longer if that is longer. Storage that has no locks keeps the object all
                the same, and whoever has access to it can remove it.
            lockable: False for what must be removable although the storage locks whatever is put there, if it lets a
                single object be exempt.
        """

    def get(self, key: str) -> bytes:
        """Raises ObjectMissing."""

    def has(self, key: str) -> bool:
        """Whether there is an object of this key."""

    def delete(self, key: str) -> None:
        """Remove every version; a missing object is no error, one that is locked is."""

    def erase(self, key: str) -> Left:
        """Remove every version that the storage lets us remove, and look what remains. A missing object is no error."""

    def list(self, prefix: str) -> Iterator[str]:
        """The keys below a prefix that ends with '/', in no order."""

    def discard_drafts(self) -> None:
        """Remove what puts that never finished have left behind."""

    def probe(self) -> None:
        """Write something as large as a usual record, and remove it."""

    def identify(self) -> None:
        """Learn from the database what the other methods need: they run in threads that have no connection to it."""


_made: dict[str, Vault] = {}


def of(target_id: str) -> Vault:
    """The vault of a storage target. A process makes each once, for targets never change.

    Raises:
        VaultUnavailable: there is no such target.
    """
    found = _made.get(target_id)
    if found is None:
        targets = StorageTarget.objects.unscoped("whose it is, its entry knows")
        target = db.only(targets.filter(pk=target_id))
        if target is None:
            raise VaultUnavailable(because=f"there is no storage target {target_id}")
        found = _made[target_id] = made_from(target)
    found.identify()
    return found


def made_from(target: StorageTarget) -> Vault:
    """A vault of a target that need not be saved. Raises VaultUnavailable: its configuration is refused."""
    vault: Vault = import_string(_PROVIDERS[StorageTarget.Provider(target.provider)])(target)
    return vault


def current(organization_id: uuid.UUID | None = None) -> Vault:
    """The vault that new records of an organization, or of the deployment, go to."""
    return of(storage_targets.current(organization_id).pk)


def external() -> list[str]:
    """The ids of the storage targets whose objects do not lie in the database."""
    targets = StorageTarget.objects.unscoped("vaults are looked after for everybody")
    return list(targets.exclude(provider=StorageTarget.Provider.DATABASE).values_list("pk", flat=True))


def forget() -> None:
    """Have this process make its vaults anew, and look again which is the current one."""
    _made.clear()
    storage_targets.forget()


_PROBE_SECONDS = 1
_last_success = -math.inf


def probe() -> None:
    """Raises VaultUnavailable unless the deployment's vault can be written. Used by /readyz.

    A success counts for a second: anybody may ask, and each answer would cost a write to the disk.
    """
    global _last_success
    if time.monotonic() - _last_success < _PROBE_SECONDS:
        return
    current().probe()
    _last_success = time.monotonic()
