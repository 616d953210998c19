from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any

from django.utils import timezone
from google.api_core.exceptions import Forbidden, GoogleAPICallError, NotFound, PreconditionFailed
from google.auth.exceptions import GoogleAuthError
from google.cloud.storage import Blob
from google.cloud.storage.exceptions import DataCorruption

from custody.clouds.gcp import configuration as gcp
from custody.clouds.locks import Locks, Version
from custody.clouds.vault import CloudVault, Signed

_ONCE: dict[str, Any] = {"retry": None, "timeout": (5, 15)}
_OF_VERSIONS = "items(name,generation,retentionExpirationTime,hardDeleteTime),nextPageToken"


class GcsVault(CloudVault):
    """A bucket of Google Cloud Storage.

    Google compares each body with its CRC32C. Where the bucket has object retention, objects are locked until the
    requested time. A retention policy of the bucket locks every new object, including data keys; of an object's two
    locks the longer one counts. Objects in soft delete cannot be purged.
    """

    errors = (GoogleAPICallError, GoogleAuthError, DataCorruption)

    def sign_in(self, secret: str) -> Signed:
        key = gcp.service_account_key(self.configuration, organization_id=self.organization_id)
        client = gcp.storage(self.configuration, self.connections, key)
        return Signed(client.bucket(self.configuration.bucket))

    def create(self, path: str, body: bytes, *, until: datetime | None, lockable: bool) -> bool:
        blob: Blob = self.client.blob(path)
        if lockable and until and self.locks.of_objects:
            blob.retention.mode, blob.retention.retain_until_time = "Locked", until
        try:
            blob.upload_from_string(body, if_generation_match=0, checksum="crc32c", **_ONCE)
        except PreconditionFailed:
            return False
        return True

    def read(self, path: str, version: str = "") -> bytes | None:
        blob = self._blob(path, version)
        try:
            body: bytes = blob.download_as_bytes(raw_download=True, checksum="crc32c", **_ONCE)
        except NotFound:
            return None
        return body

    def exists(self, path: str) -> bool:
        return bool(self.client.blob(path).exists(**_ONCE))

    def versions(self, path: str) -> Iterator[Version]:
        now = timezone.now()
        for blob in self._blobs(path, _OF_VERSIONS, versions=True):
            if blob.name == path:
                until = blob.retention_expiration_time
                is_kept = until is not None and until > now
                yield Version(str(blob.generation), is_kept=is_kept, kept_until=until if is_kept else None)
        for blob in self._blobs(path, _OF_VERSIONS, soft_deleted=True):
            if blob.name == path and blob.hard_delete_time:
                yield Version(str(blob.generation), recoverable_until=blob.hard_delete_time)

    def remove(self, path: str, version: Version) -> None:
        with suppress(NotFound):
            self._blob(path, version.id).delete(**_ONCE)

    def is_refusal(self, error: Exception) -> bool:
        return isinstance(error, Forbidden)

    def names(self, prefix: str) -> Iterator[str]:
        yield from (blob.name for blob in self._blobs(prefix, "items(name),nextPageToken"))

    def find_locks(self) -> Locks:
        bucket = self.client.client.bucket(self.client.name)
        bucket.reload(**_ONCE)
        return Locks(of_objects=bucket.object_retention_mode == "Enabled", of_all=bucket.retention_period is not None)

    def reason(self, error: Exception) -> str:
        return f"HTTP {error.code}" if isinstance(error, GoogleAPICallError) else type(error).__name__

    def _blob(self, path: str, version: str) -> Blob:
        blob: Blob = self.client.blob(path, generation=int(version) if version else None)
        return blob

    def _blobs(self, prefix: str, fields: str, **options: Any) -> Iterator[Blob]:
        yield from self.client.client.list_blobs(self.client, prefix=prefix, fields=fields, **options, **_ONCE)
