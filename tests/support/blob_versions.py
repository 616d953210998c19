"""A proxy for azurite that adds blob versions, their locks, and soft delete. azurite holds the current versions."""

import base64
import hashlib
import itertools
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from threading import RLock
from urllib.parse import unquote
from xml.sax.saxutils import escape

from tests.support.web_server import Reply, Request

_UNTIL, _MODE = "x-ms-immutability-policy-until-date", "x-ms-immutability-policy-mode"


class Blob:
    """A version of a blob. Without versioning a blob has one version with an empty id."""

    def __init__(self, name: str, body: bytes, version: str) -> None:
        self.name, self.body, self.version = name, body, version
        self.is_current = True
        self.until: datetime | None = None
        self.mode = "Unlocked"
        self.is_held = False
        self.deleted_at: datetime | None = None
        """The time of the soft delete, if there was one."""

    @property
    def is_locked(self) -> bool:
        return self.is_held or (self.until is not None and datetime.now(UTC) < self.until)


class BlobVersions:
    """The blobs of an account.

    Attributes:
        versioned: whether deleting and overwriting keep the old version.
        soft_delete_days: how long a deleted blob can be restored; 0 disables soft delete.
        permanent: whether the account allows purging soft-deleted versions.
        locked_for: the default lock of version-level immutability, if there is one.
    """

    def __init__(self, forward: Callable[[Request], Reply]) -> None:
        self._forward = forward
        self._lock = RLock()
        self.forget()

    def forget(self) -> None:
        self.blobs: list[Blob] = []
        self.versioned = False
        self.soft_delete_days = 0
        self.permanent = False
        self.locked_for: timedelta | None = None
        self._numbers = itertools.count(1)

    def answer(self, request: Request) -> Reply:
        name = unquote("/".join(request.path.split("/")[3:]))
        with self._lock:
            if request.query.get("comp") == "list" and "versions" in request.query.get("include", ""):
                return self._listing(request)
            if not name or request.query.get("comp") not in (None, "immutabilityPolicies"):
                return self._forward(request)
            if request.query.get("comp"):
                return self._set_lock(name, request)
            if request.method == "PUT":
                return self._put(name, request)
            if request.method == "DELETE":
                return self._delete(name, request)
            return self._read(name, request)

    def find(self, name: str, version: str | None = None) -> Blob | None:
        """Return the current version of a blob, or the named one."""
        versions = [blob for blob in self.blobs if blob.name == name]
        if version is None:
            return next((blob for blob in versions if blob.is_current), None)
        return next((blob for blob in versions if blob.version == version), None)

    def _put(self, name: str, request: Request) -> Reply:
        reply = self._forward(request)
        if reply.status == 201:
            blob = self.add(name, request.body)
            if request.headers.get(_UNTIL):
                blob.until, blob.mode = parsedate_to_datetime(request.headers[_UNTIL]), request.headers[_MODE]
        return reply

    def add(self, name: str, body: bytes) -> Blob:
        """Add a blob that azurite already holds."""
        if before := self.find(name):
            self._retire(before)
        blob = Blob(name, body, f"2026-01-01T00:00:{next(self._numbers):010.7f}Z" if self.versioned else "")
        if self.locked_for:
            blob.until, blob.mode = datetime.now(UTC) + self.locked_for, "Locked"
        self.blobs.append(blob)
        return blob

    def _retire(self, blob: Blob) -> None:
        """Make a blob an earlier version. Without versioning, delete it."""
        blob.is_current = False
        if not self.versioned:
            self._drop(blob)

    def _drop(self, blob: Blob) -> None:
        if self.soft_delete_days:
            blob.deleted_at = datetime.now(UTC)
        else:
            self.blobs.remove(blob)

    def _delete(self, name: str, request: Request) -> Reply:
        version = request.query.get("versionid")
        blob = self.find(name, version)
        if version is None:
            reply = self._forward(request)
            if blob and reply.status == 202:
                self._retire(blob)
            return reply
        if blob is None:
            return _error("BlobNotFound", 404)
        if request.query.get("deletetype", "").lower() == "permanent":
            if not self.permanent or not blob.deleted_at:
                return _error("FeatureNotSupported", 409)
            self.blobs.remove(blob)
        elif blob.is_current:
            return _error("OperationNotAllowedOnRootBlob", 403)
        elif blob.deleted_at:
            return _error("BlobNotFound", 404)
        elif blob.is_locked:
            return _error("BlobImmutableDueToPolicy", 409)
        else:
            self._drop(blob)
        return Reply(b"", 202)

    def _read(self, name: str, request: Request) -> Reply:
        version = request.query.get("versionid")
        blob = self.find(name, version)
        if version is None:
            reply = self._forward(request)
            lock = {_UNTIL: _time(blob.until), _MODE: blob.mode} if blob and blob.until else {}
            return reply._replace(headers={**reply.headers, **lock})
        if blob is None or blob.deleted_at:
            return _error("BlobNotFound", 404)
        digest = base64.b64encode(hashlib.md5(blob.body).digest()).decode()
        span = f"bytes 0-{len(blob.body) - 1}/{len(blob.body)}"
        return Reply(blob.body, 206, {"Content-Range": span, "Content-MD5": digest, "ETag": '"1"'})

    def _set_lock(self, name: str, request: Request) -> Reply:
        blob = self.find(name)
        if blob is None:
            return _error("BlobNotFound", 404)
        until = parsedate_to_datetime(request.headers[_UNTIL])
        if blob.mode == "Locked" and blob.until and until < blob.until:
            return _error("ImmutabilityPolicyDeleteOnLockedPolicy", 409)
        blob.until, blob.mode = until, request.headers[_MODE]
        return Reply(b"", 200, {_UNTIL: _time(until), _MODE: blob.mode})

    def _listing(self, request: Request) -> Reply:
        reply = self._forward(request)
        if reply.status != 200:  # for example, the container does not exist
            return reply
        is_all = "deleted" in request.query["include"]
        prefix = request.query.get("prefix", "")
        blobs = [blob for blob in self.blobs if blob.name.startswith(prefix) and (is_all or not blob.deleted_at)]
        items = "".join(self._described(blob) for blob in blobs)
        body = f'<?xml version="1.0"?><EnumerationResults><Blobs>{items}</Blobs><NextMarker/></EnumerationResults>'
        return Reply(body.encode(), 200, {"Content-Type": "application/xml"})

    def _described(self, blob: Blob) -> str:
        parts = [f"<Name>{escape(blob.name)}</Name>"]
        if blob.version:
            parts.append(f"<VersionId>{blob.version}</VersionId>")
        parts += ["<IsCurrentVersion>true</IsCurrentVersion>"] if blob.version and blob.is_current else []
        parts += ["<Deleted>true</Deleted>"] if blob.deleted_at else []
        parts.append(f"<Properties><Content-Length>{len(blob.body)}</Content-Length><BlobType>BlockBlob</BlobType>")
        if blob.deleted_at:
            left = blob.deleted_at + timedelta(days=self.soft_delete_days) - datetime.now(UTC)
            parts.append(f"<DeletedTime>{_time(blob.deleted_at)}</DeletedTime>")
            parts.append(f"<RemainingRetentionDays>{left.days}</RemainingRetentionDays>")
        if blob.until:
            parts.append(f"<ImmutabilityPolicyUntilDate>{_time(blob.until)}</ImmutabilityPolicyUntilDate>")
            parts.append(f"<ImmutabilityPolicyMode>{blob.mode.lower()}</ImmutabilityPolicyMode>")
        parts.append(f"<LegalHold>{json.dumps(blob.is_held)}</LegalHold></Properties>")
        return f"<Blob>{''.join(parts)}</Blob>"


def _time(moment: datetime) -> str:
    return format_datetime(moment.astimezone(UTC), usegmt=True)


def _error(code: str, status: int) -> Reply:
    return Reply(b"", status, {"x-ms-error-code": code})
