"""Where sealed objects lie. A vault is create-only: an object, once put, is never replaced."""

from collections.abc import Iterator
from functools import cache
from typing import Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from config.faults import Fault

_VAULTS = {
    "database": "custody.vaults.database.DatabaseVault",
    "filesystem": "custody.vaults.filesystem.FilesystemVault",
}


class VaultUnavailable(Fault):
    """The vault is down, full or refuses: nothing acknowledged is lost, and trying again later is safe."""

    status = 503
    sentence = "The vault does not answer right now. Nothing acknowledged is lost; repeat the same request."


class ObjectMissing(Fault):
    """There is no object under this key."""

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

    def delete(self, key: str) -> None:
        """Remove every version; a missing object is no error."""

    def list(self, prefix: str) -> Iterator[str]:
        """The keys below a prefix that ends with '/', in no order."""

    def discard_drafts(self) -> None:
        """Remove what puts that never finished have left behind."""


@cache
def vault(name: str) -> Vault:
    """The vault of this name, as `Entry.vault` and the setting CUSTODY_VAULT name it."""
    made: Vault = import_string(_VAULTS[name])()
    return made


def current() -> Vault:
    """The vault that new records go to."""
    return vault(settings.CUSTODY_VAULT)


def names() -> list[str]:
    return list(_VAULTS)


def probe() -> None:
    """Raises VaultUnavailable unless the current vault answers. Used by /readyz."""
    try:
        current().get("0/0")
    except ObjectMissing:
        return
