import hashlib
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from azure.core.exceptions import AzureError, HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.storage.blob import ImmutabilityPolicy
from django.utils import timezone

from config.vetted_http import AnswerTooLarge
from custody.clouds.azure import configuration as azure
from custody.clouds.locks import Locks, Version
from custody.clouds.vault import ANSWER_BYTES, CloudVault, Signed

_EXISTS = {"BlobAlreadyExists", "BlobImmutableDueToPolicy"}
_MIN_LOCK = timedelta(minutes=1)
_OF_VERSIONS = ["versions", "snapshots", "deleted", "immutabilitypolicy", "legalhold"]
_MAX_SOFT_DELETE = 365  # days
_BY_DEFAULT = Locks(of_objects=True, of_all=True)


class AzureBlobVault(CloudVault):
    """A container of Azure Blob Storage.

    Azure compares each body with its MD5, the only checksum that it accepts for a whole blob. Where the container has
    version-level immutability, blobs are locked until the requested time, or for the container's default period if that
    is longer. A policy or a legal hold of the container locks every new blob, including data keys.

    Versions and snapshots in soft delete can be purged where the account permits it.
    """

    errors = (AzureError, ValueError)  # ValueError: an account's key that is not base64

    def sign_in(self, secret: str) -> Signed:
        own = {"organization_id": self.organization_id}
        application = azure.application(self.configuration, self.connections, **own)
        return Signed(azure.container(self.configuration, self.connections, application, **own))

    def create(self, path: str, body: bytes, *, until: datetime | None, lockable: bool) -> bool:
        created = True
        try:
            self.client.upload_blob(
                path, body, overwrite=False, validate_content=True, **self._lock_of(until, lockable)
            )
        except ResourceExistsError as error:
            if self.reason(error) not in _EXISTS:
                raise
            created = False
        if lockable and until and self.locks == _BY_DEFAULT:
            self._prolong_lock(path, body, until)
        return created

    def read(self, path: str, version: str = "") -> bytes | None:
        try:
            download = self.client.download_blob(path, max_concurrency=1, **_named(version))
        except ResourceNotFoundError:
            return None
        if download.size > ANSWER_BYTES:  # the library would read it in several answers
            raise AnswerTooLarge
        body: bytes = download.readall()
        return body

    def exists(self, path: str) -> bool:
        return bool(self.client.get_blob_client(path).exists())

    def versions(self, path: str) -> Iterator[Version]:
        now = timezone.now()
        for blob in self.client.list_blobs(name_starts_with=path, include=_OF_VERSIONS):
            if blob.name != path:
                continue
            if blob.deleted:
                days = blob.remaining_retention_days  # rounded down
                left = timedelta(days=1 + (_MAX_SOFT_DELETE if days is None else days))
                yield Version(_id_of(blob), recoverable_until=now + left)
                continue
            until = blob.immutability_policy.expiry_time if blob.immutability_policy else None
            is_locked = until is not None and until > now
            yield Version(
                _id_of(blob),
                is_current=bool(blob.is_current_version) or not _id_of(blob),
                is_kept=is_locked or bool(blob.has_legal_hold),
                kept_until=until if is_locked else None,
            )

    def remove(self, path: str, version: Version) -> None:
        with suppress(ResourceNotFoundError):
            if version.is_current:  # with versioning, it becomes a former version
                self.client.delete_blob(path, delete_snapshots="include")
            if version.id:
                self.client.delete_blob(path, **_named(version.id))

    def purge(self, path: str, version: str) -> bool:
        if not version:  # neither a version nor a snapshot
            return False
        try:
            self.client.delete_blob(path, blob_delete_type="Permanent", **_named(version))
        except HttpResponseError as error:
            if error.status_code == 429 or (error.status_code or 0) >= 500:
                raise
            return False
        return True

    def is_refusal(self, error: Exception) -> bool:
        return isinstance(error, HttpResponseError) and error.status_code in (403, 409)

    def names(self, prefix: str) -> Iterator[str]:
        yield from self.client.list_blob_names(name_starts_with=prefix)

    def find_locks(self) -> Locks:
        properties = self.client.get_container_properties()
        return Locks(
            of_objects=bool(properties.immutable_storage_with_versioning_enabled),
            of_all=bool(properties.has_immutability_policy or properties.has_legal_hold),
        )

    def reason(self, error: Exception) -> str:
        if isinstance(error, HttpResponseError):
            return str(getattr(error, "error_code", "") or f"HTTP {error.status_code}")
        return type(error).__name__

    def _lock_of(self, until: datetime | None, lockable: bool) -> dict[str, Any]:
        if lockable and until and self.locks == Locks(of_objects=True, of_all=False):
            return {"immutability_policy": ImmutabilityPolicy(expiry_time=until, policy_mode="Locked")}
        if not lockable and self.locks == _BY_DEFAULT:
            soon = timezone.now() + _MIN_LOCK  # this short lock replaces the container's default
            return {"immutability_policy": ImmutabilityPolicy(expiry_time=soon, policy_mode="Unlocked")}
        return {}

    def _prolong_lock(self, path: str, body: bytes, until: datetime) -> None:
        """Set a lock if the container's default, whose length is not known before the put, ends earlier. A retry after
        a lost answer comes here too, and recognizes its own blob."""
        blob = self.client.get_blob_client(path)
        properties = blob.get_blob_properties()
        is_ours = properties.content_settings.content_md5 == hashlib.md5(body, usedforsecurity=False).digest()
        ends = properties.immutability_policy.expiry_time
        if is_ours and (ends is None or ends < until):
            blob.set_immutability_policy(ImmutabilityPolicy(expiry_time=until, policy_mode="Locked"))


def _id_of(blob: Any) -> str:
    if blob.snapshot:
        return f"snapshot={blob.snapshot}"
    return f"version_id={blob.version_id}" if blob.version_id else ""


def _named(version: str) -> dict[str, str]:
    """Return the parameters that name a version or a snapshot."""
    kind, _, name = version.partition("=")
    return {kind: name} if name else {}
