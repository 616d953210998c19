"""Where sealed objects lie. A vault is create-only: an object, once put, is never replaced."""

import math
import time
from collections.abc import Iterator
from functools import cache
from typing import Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from config.errors import Fault

_VAULTS = {
    "database": "custody.vaults.database.DatabaseVault",
    "filesystem": "custody.vaults.filesystem.FilesystemVault",
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
        "The vault is not in place. Nothing acknowledged is lost; an administrator must mount its disk. "
        "Then repeat the same request."
    )


class VaultOfAnother(VaultUnavailable):
    """The marker is another installation's."""

    code = "vault_of_another"
    sentence = (
        "Another installation's vault is in the place of this one's. Nothing acknowledged is lost; an administrator "
        "must mount the right disk. Then repeat the same request."
    )


class ObjectMissing(Fault):
    """There is no object under this key."""

    code = "object_missing"
    sentence = "The stored record is missing from its vault. An administrator must restore the vault from a backup."


class Vault(Protocol):
    """Keys are relative paths of lowercase hex digits, '/' and letters; bodies are opaque bytes.

    Every method raises VaultUnavailable when the storage does not answer or is full.
    """

    transactional: bool
    """Whether objects commit together with the index, in the database's own transaction."""

    def put_new(self, key: str, body: bytes) -> bool:
        """Store durably, create-only. True if created, False if an object of this key exists."""

    def get(self, key: str) -> bytes:
        """Raises ObjectMissing."""

    def has(self, key: str) -> bool:
        """Whether there is an object of this key."""

    def delete(self, key: str) -> None:
        """Remove every version; a missing object is no error."""

    def list(self, prefix: str) -> Iterator[str]:
        """The keys below a prefix that ends with '/', in no order."""

    def discard_drafts(self) -> None:
        """Remove what puts that never finished have left behind."""

    def probe(self) -> None:
        """Write something as large as a usual record, and remove it."""

    def identify(self) -> None:
        """Learn from the database what the other methods need: they run in threads that have no connection to it."""


def vault(name: str) -> Vault:
    """The vault of this name, as `Entry.vault` and the setting CUSTODY_VAULT name it."""
    found = _made(name)
    found.identify()
    return found


@cache
def _made(name: str) -> Vault:
    made: Vault = import_string(_VAULTS[name])()
    return made


def current() -> Vault:
    """The vault that new records go to."""
    return vault(settings.CUSTODY_VAULT)


def names() -> list[str]:
    return list(_VAULTS)


def external() -> list[str]:
    """The vaults whose objects do not lie in the database."""
    return [name for name in _VAULTS if not _made(name).transactional]


_PROBE_SECONDS = 1
_last_success = -math.inf


def probe() -> None:
    """Raises VaultUnavailable unless the current vault can be written. Used by /readyz.

    A success counts for a second: anybody may ask, and each answer would cost a write to the disk.
    """
    global _last_success
    if time.monotonic() - _last_success < _PROBE_SECONDS:
        return
    current().probe()
    _last_success = time.monotonic()
