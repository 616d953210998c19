from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from azure.core.exceptions import AzureError, HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.storage.blob import ImmutabilityPolicy
from django.utils import timezone

from config.vetted_http import AnswerTooLarge
from custody.clouds import azure
from custody.vaults.cloud import ANSWER_BYTES, CloudVault, Locks, Signed

_EXISTS = {"BlobAlreadyExists", "BlobImmutableDueToPolicy"}
_SHORTEST_LOCK = timedelta(minutes=1)


class AzureBlobVault(CloudVault):
    """A container of Azure Blob Storage.

    What arrives is compared with its MD5, the one checksum that Azure takes of a whole blob. Where the container has
    version-level immutability, blobs are locked until the time that is asked for. A policy or a legal hold of the
    container locks whatever is put, data keys too.
    """

    errors = (AzureError, ValueError)  # ValueError: a key of an account that is no base64

    def sign_in(self, secret: str) -> Signed:
        own = {"organization_id": self.organization_id}
        application = azure.application(self.configuration, self.connections, **own)
        return Signed(azure.container(self.configuration, self.connections, application, **own))

    def create(self, path: str, body: bytes, *, until: datetime | None, lockable: bool) -> bool:
        try:
            self.client.upload_blob(
                path, body, overwrite=False, validate_content=True, **self._lock_of(until, lockable)
            )
        except ResourceExistsError as error:
            if self.reason(error) in _EXISTS:
                return False
            raise
        return True

    def read(self, path: str) -> bytes | None:
        try:
            found = self.client.download_blob(path, max_concurrency=1)
        except ResourceNotFoundError:
            return None
        if found.size > ANSWER_BYTES:  # it would be read in as many answers as that takes
            raise AnswerTooLarge
        body: bytes = found.readall()
        return body

    def exists(self, path: str) -> bool:
        return bool(self.client.get_blob_client(path).exists())

    def remove(self, path: str) -> None:
        with suppress(ResourceNotFoundError):
            self.client.delete_blob(path, delete_snapshots="include")
        for blob in self.client.list_blobs(name_starts_with=path, include=["versions"]):
            if blob.name == path and blob.version_id:
                self.client.delete_blob(path, version_id=blob.version_id)

    def names(self, prefix: str) -> Iterator[str]:
        yield from self.client.list_blob_names(name_starts_with=prefix)

    def find_locks(self) -> Locks:
        found = self.client.get_container_properties()
        return Locks(
            of_objects=bool(found.immutable_storage_with_versioning_enabled),
            of_all=bool(found.has_immutability_policy or found.has_legal_hold),
        )

    def reason(self, error: Exception) -> str:
        if isinstance(error, HttpResponseError):
            return str(getattr(error, "error_code", "") or f"HTTP {error.status_code}")
        return type(error).__name__

    def _lock_of(self, until: datetime | None, lockable: bool) -> dict[str, Any]:
        if lockable and until and self.locks.of_objects:
            return {"immutability_policy": ImmutabilityPolicy(expiry_time=until, policy_mode="Locked")}
        if not lockable and self.locks == Locks(of_objects=True, of_all=True):
            soon = timezone.now() + _SHORTEST_LOCK  # a lock of its own goes before the container's, and is soon over
            return {"immutability_policy": ImmutabilityPolicy(expiry_time=soon, policy_mode="Unlocked")}
        return {}
