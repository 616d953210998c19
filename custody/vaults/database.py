import os
import secrets
from collections.abc import Iterator
from datetime import datetime

from django.db import DatabaseError, transaction

from custody.models import SealedObject, StorageTarget
from custody.vaults import PROBE_BYTES, ObjectMissing, Remains, VaultUnavailable


class DatabaseVault:
    """A table beside the index: one commit for both, no shared disk, and the fastest vault.

    `services.store_records` writes it in its own statement; this class does everything else. Rows have no locks, so
    only the service's own rules keep a record.
    """

    transactional = True
    parallel_puts = 1
    compares_checksums = False
    may_lock = immutable = False

    def __init__(self, target: StorageTarget) -> None:
        """Ignore the target: this vault is the service's own database."""

    def put_new(self, key: str, body: bytes, *, retain_until: datetime | None = None, lockable: bool = True) -> bool:
        try:
            _, created = SealedObject.objects.get_or_create(key=key, defaults={"body": body})
        except DatabaseError as error:
            raise VaultUnavailable(because="the database does not store") from error
        return created

    def get(self, key: str) -> bytes:
        try:
            body = SealedObject.objects.values_list("body", flat=True).get(key=key)
        except SealedObject.DoesNotExist:
            raise ObjectMissing(because=key) from None
        except DatabaseError as error:
            raise VaultUnavailable(because="the database does not answer") from error
        return bytes(body)

    def has(self, key: str) -> bool:
        try:
            return SealedObject.objects.filter(key=key).exists()
        except DatabaseError as error:
            raise VaultUnavailable(because="the database does not answer") from error

    def delete(self, key: str) -> None:
        try:
            SealedObject.objects.filter(key=key).delete()
        except DatabaseError as error:
            raise VaultUnavailable(because="the database does not delete") from error

    def erase(self, key: str) -> Remains:
        self.delete(key)
        return Remains()

    def list(self, prefix: str) -> Iterator[str]:
        keys = SealedObject.objects.filter(key__startswith=prefix).values_list("key", flat=True)
        yield from keys.iterator()

    def discard_drafts(self) -> None:
        """Do nothing: a transaction that did not commit left nothing."""

    def probe(self) -> None:
        """Commit an object and its removal: a transaction that is rolled back may never reach the disk."""
        key = f"probe/{secrets.token_hex(8)}"
        try:
            with transaction.atomic():
                self.put_new(key, os.urandom(PROBE_BYTES))
                self.delete(key)
        except DatabaseError as error:
            raise VaultUnavailable(because="the database does not store") from error

    def identify(self) -> None:
        """Do nothing: the connection to the database is all it needs."""
