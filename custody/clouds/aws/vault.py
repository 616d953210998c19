import base64
import hashlib
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from django.utils import timezone

from custody.clouds.aws import configuration as aws
from custody.clouds.locks import Locks, Version
from custody.clouds.vault import CloudVault, Signed

_ROLE_SECONDS = 3600
_TRIES = 4
"""Attempts of a put: if it meets another put of the same key, S3 asks for a retry."""
_MIN_LOCK = timedelta(minutes=1)
_REFUSED = {"AccessDenied", "InvalidRequest"}
"""Error codes for a locked version: Amazon sends the first, and some compatible services the second."""
_NO_LOCKS = {"ObjectLockConfigurationNotFoundError", "NotImplemented", "MethodNotAllowed"}


class S3Vault(CloudVault):
    """A bucket of Amazon S3, or of an S3-compatible service that honours `If-None-Match`.

    S3 compares each body with its SHA-256. Where the bucket has Object Lock, objects are locked in compliance mode
    until the requested time, or for the bucket's default period if that is longer.
    """

    errors = (ClientError, BotoCoreError)

    def sign_in(self, secret: str) -> Signed:
        credentials = aws.credentials(self.configuration, self.connections, organization_id=self.organization_id)
        client = aws.client("s3", self.configuration, self.connections, credentials)
        if not self.configuration.role_arn:
            return Signed(client)
        return Signed(client, good_until=time.monotonic() + _ROLE_SECONDS)

    def create(self, path: str, body: bytes, *, until: datetime | None, lockable: bool) -> bool:
        for attempt in range(1, _TRIES + 1):
            try:
                self.client.put_object(
                    **self._at(path),
                    Body=body,
                    IfNoneMatch="*",
                    ChecksumSHA256=base64.b64encode(hashlib.sha256(body).digest()).decode(),
                    ContentType="application/octet-stream",
                    **self._lock_of(until, lockable),
                )
                return True
            except ClientError as error:
                if _status(error) == 412:
                    return False
                if _code(error) != "ConditionalRequestConflict" or attempt == _TRIES:
                    raise
        raise AssertionError

    def read(self, path: str, version: str = "") -> bytes | None:
        try:
            answer = self.client.get_object(**self._at(path, version), ChecksumMode="ENABLED")
        except ClientError as error:
            if _status(error) == 404:
                return None
            raise
        body: bytes = answer["Body"].read()
        return body

    def exists(self, path: str) -> bool:
        try:
            self.client.head_object(**self._at(path))
        except ClientError as error:
            if _status(error) == 404:
                return False
            raise
        return True

    def versions(self, path: str) -> Iterator[Version]:
        for page in self._pages("list_object_versions", path):
            for item in (*page.get("Versions", ()), *page.get("DeleteMarkers", ())):
                if item["Key"] == path:
                    yield Version(item["VersionId"])

    def remove(self, path: str, version: Version) -> None:
        self.client.delete_object(**self._at(path, version.id))

    def is_refusal(self, error: Exception) -> bool:
        return isinstance(error, ClientError) and _code(error) in _REFUSED

    def lock_ends(self, path: str, version: Version) -> datetime | None:
        try:
            answer = self.client.get_object_retention(**self._at(path, version.id))
        except ClientError as error:
            if 400 <= _status(error) < 429:
                return None
            raise
        until: datetime | None = answer["Retention"].get("RetainUntilDate")
        return until

    def names(self, prefix: str) -> Iterator[str]:
        for page in self._pages("list_objects_v2", prefix):
            yield from (item["Key"] for item in page.get("Contents", ()))

    def find_locks(self) -> Locks:
        try:
            settings = self.client.get_object_lock_configuration(**self.configuration.bucket_parameters)[
                "ObjectLockConfiguration"
            ]
        except ClientError as error:
            if _code(error) in _NO_LOCKS:
                return Locks(of_objects=False, of_all=False)
            raise
        is_enabled = settings.get("ObjectLockEnabled") == "Enabled"
        default = settings.get("Rule", {}).get("DefaultRetention", {}) if is_enabled else {}
        days = default.get("Days", 0) + default.get("Years", 0) * 365
        return Locks(of_objects=is_enabled, of_all=bool(default), by_default=timedelta(days=days))

    def reason(self, error: Exception) -> str:
        return _code(error) if isinstance(error, ClientError) else type(error).__name__

    def _at(self, path: str, version: str = "") -> dict[str, str]:
        of_version = {"VersionId": version} if version else {}
        return {**self.configuration.bucket_parameters, "Key": path, **of_version}

    def _pages(self, operation: str, prefix: str) -> Iterator[dict[str, Any]]:
        yield from self.client.get_paginator(operation).paginate(**self.configuration.bucket_parameters, Prefix=prefix)

    def _lock_of(self, until: datetime | None, lockable: bool) -> dict[str, Any]:
        if lockable and until and self.locks.of_objects and until > timezone.now() + self.locks.by_default:
            # The object's lock replaces the bucket's. A default year may be a day longer than 365 days.
            by_default = timezone.now() + self.locks.by_default * 366 / 365
            return {"ObjectLockMode": "COMPLIANCE", "ObjectLockRetainUntilDate": max(until, by_default)}
        if not lockable and self.locks.of_all:  # this short lock replaces the bucket's default
            return {"ObjectLockMode": "GOVERNANCE", "ObjectLockRetainUntilDate": timezone.now() + _MIN_LOCK}
        return {}


def _code(error: ClientError) -> str:
    return str(error.response["Error"].get("Code", ""))


def _status(error: ClientError) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
