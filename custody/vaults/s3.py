import base64
import hashlib
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from django.utils import timezone

from custody.clouds import aws
from custody.vaults.cloud import CloudVault, Locks, Signed

_ROLE_SECONDS = 3600
_TRIES = 4
"""Of a put that meets another put of the same key, which S3 asks to be tried again."""
_SHORTEST_LOCK = timedelta(minutes=1)
_NO_LOCKS = {"ObjectLockConfigurationNotFoundError", "NotImplemented", "MethodNotAllowed"}


class S3Vault(CloudVault):
    """A bucket of Amazon S3, or of an S3-compatible service that honours `If-None-Match`.

    What arrives is compared with its SHA-256. Where the bucket has Object Lock, objects are locked until the time that
    is asked for, in compliance mode, or as the bucket does by default.
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

    def read(self, path: str) -> bytes | None:
        try:
            answer = self.client.get_object(**self._at(path), ChecksumMode="ENABLED")
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

    def remove(self, path: str) -> None:
        for page in self._pages("list_object_versions", path):
            for found in (*page.get("Versions", ()), *page.get("DeleteMarkers", ())):
                if found["Key"] == path:
                    self.client.delete_object(**self._at(path), VersionId=found["VersionId"])

    def names(self, prefix: str) -> Iterator[str]:
        for page in self._pages("list_objects_v2", prefix):
            yield from (found["Key"] for found in page.get("Contents", ()))

    def find_locks(self) -> Locks:
        try:
            found = self.client.get_object_lock_configuration(**self.configuration.bucket_parameters)[
                "ObjectLockConfiguration"
            ]
        except ClientError as error:
            if _code(error) in _NO_LOCKS:
                return Locks(of_objects=False, of_all=False)
            raise
        is_enabled = found.get("ObjectLockEnabled") == "Enabled"
        return Locks(of_objects=is_enabled, of_all=is_enabled and "DefaultRetention" in found.get("Rule", {}))

    def reason(self, error: Exception) -> str:
        return _code(error) if isinstance(error, ClientError) else type(error).__name__

    def _at(self, path: str) -> dict[str, str]:
        return {**self.configuration.bucket_parameters, "Key": path}

    def _pages(self, operation: str, prefix: str) -> Iterator[dict[str, Any]]:
        yield from self.client.get_paginator(operation).paginate(**self.configuration.bucket_parameters, Prefix=prefix)

    def _lock_of(self, until: datetime | None, lockable: bool) -> dict[str, Any]:
        if lockable and until and self.locks.of_objects:
            return {"ObjectLockMode": "COMPLIANCE", "ObjectLockRetainUntilDate": until}
        if not lockable and self.locks.of_all:  # a lock of its own goes before the bucket's, and is soon over
            return {"ObjectLockMode": "GOVERNANCE", "ObjectLockRetainUntilDate": timezone.now() + _SHORTEST_LOCK}
        return {}


def _code(error: ClientError) -> str:
    return str(error.response["Error"].get("Code", ""))


def _status(error: ClientError) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
