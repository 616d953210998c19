"""What azurite leaves out: versions of blobs, their locks, and soft delete. It stands before azurite, which has the
current versions."""

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
    """A version. Without versioning a blob has one, of no id."""

    def __init__(self, name: str, body: bytes, version: str) -> None:
        self.name, self.body, self.version = name, body, version
        self.is_current = True
        self.until: datetime | None = None
        self.mode = "Unlocked"
        self.is_held = False
        self.deleted_at: datetime | None = None
        """If it was soft-deleted."""

    @property
    def is_locked(self) -> bool:
        return self.is_held or (self.until is not None and datetime.now(UTC) < self.until)


class BlobVersions:
    """The blobs of an account.

    Attributes:
        versioned: whether deleting and overwriting keep what was there.
        soft_delete_days: for how long what was deleted can be brought back; 0: not at all.
        permanent: whether the account lets versions be purged that were soft-deleted.
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
        """The current version, or another."""
        mine = [each for each in self.blobs if each.name == name]
        if version is None:
            return next((each for each in mine if each.is_current), None)
        return next((each for each in mine if each.version == version), None)

    def _put(self, name: str, request: Request) -> Reply:
        reply = self._forward(request)
        if reply.status == 201:
            made = self.add(name, request.body)
            if request.headers.get(_UNTIL):
                made.until, made.mode = parsedate_to_datetime(request.headers[_UNTIL]), request.headers[_MODE]
        return reply

    def add(self, name: str, body: bytes) -> Blob:
        """What azurite has already."""
        if before := self.find(name):
            self._retire(before)
        made = Blob(name, body, f"2026-01-01T00:00:{next(self._numbers):010.7f}Z" if self.versioned else "")
        if self.locked_for:
            made.until, made.mode = datetime.now(UTC) + self.locked_for, "Locked"
        self.blobs.append(made)
        return made

    def _retire(self, blob: Blob) -> None:
        """It becomes an earlier version, or is soft-deleted, or is gone."""
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
        found = self.find(name, version)
        if version is None:
            reply = self._forward(request)
            if found and reply.status == 202:
                self._retire(found)
            return reply
        if found is None:
            return _error("BlobNotFound", 404)
        if request.query.get("deletetype", "").lower() == "permanent":
            if not self.permanent or not found.deleted_at:
                return _error("FeatureNotSupported", 409)
            self.blobs.remove(found)
        elif found.is_current:
            return _error("OperationNotAllowedOnRootBlob", 403)
        elif found.deleted_at:
            return _error("BlobNotFound", 404)
        elif found.is_locked:
            return _error("BlobImmutableDueToPolicy", 409)
        else:
            self._drop(found)
        return Reply(b"", 202)

    def _read(self, name: str, request: Request) -> Reply:
        version = request.query.get("versionid")
        found = self.find(name, version)
        if version is None:
            reply = self._forward(request)
            lock = {_UNTIL: _time(found.until), _MODE: found.mode} if found and found.until else {}
            return reply._replace(headers={**reply.headers, **lock})
        if found is None or found.deleted_at:
            return _error("BlobNotFound", 404)
        digest = base64.b64encode(hashlib.md5(found.body).digest()).decode()
        span = f"bytes 0-{len(found.body) - 1}/{len(found.body)}"
        return Reply(found.body, 206, {"Content-Range": span, "Content-MD5": digest, "ETag": '"1"'})

    def _set_lock(self, name: str, request: Request) -> Reply:
        found = self.find(name)
        if found is None:
            return _error("BlobNotFound", 404)
        until = parsedate_to_datetime(request.headers[_UNTIL])
        if found.mode == "Locked" and found.until and until < found.until:
            return _error("ImmutabilityPolicyDeleteOnLockedPolicy", 409)
        found.until, found.mode = until, request.headers[_MODE]
        return Reply(b"", 200, {_UNTIL: _time(until), _MODE: found.mode})

    def _listing(self, request: Request) -> Reply:
        gone = self._forward(request)
        if gone.status != 200:  # such as a container that is not there
            return gone
        is_all = "deleted" in request.query["include"]
        prefix = request.query.get("prefix", "")
        found = [each for each in self.blobs if each.name.startswith(prefix) and (is_all or not each.deleted_at)]
        items = "".join(self._described(each) for each in found)
        body = f'<?xml version="1.0"?><EnumerationResults><Blobs>{items}</Blobs><NextMarker/></EnumerationResults>'
        return Reply(body.encode(), 200, {"Content-Type": "application/xml"})

    def _described(self, blob: Blob) -> str:
        said = [f"<Name>{escape(blob.name)}</Name>"]
        if blob.version:
            said.append(f"<VersionId>{blob.version}</VersionId>")
        said += ["<IsCurrentVersion>true</IsCurrentVersion>"] if blob.version and blob.is_current else []
        said += ["<Deleted>true</Deleted>"] if blob.deleted_at else []
        said.append(f"<Properties><Content-Length>{len(blob.body)}</Content-Length><BlobType>BlockBlob</BlobType>")
        if blob.deleted_at:
            left = blob.deleted_at + timedelta(days=self.soft_delete_days) - datetime.now(UTC)
            said.append(f"<DeletedTime>{_time(blob.deleted_at)}</DeletedTime>")
            said.append(f"<RemainingRetentionDays>{left.days}</RemainingRetentionDays>")
        if blob.until:
            said.append(f"<ImmutabilityPolicyUntilDate>{_time(blob.until)}</ImmutabilityPolicyUntilDate>")
            said.append(f"<ImmutabilityPolicyMode>{blob.mode.lower()}</ImmutabilityPolicyMode>")
        said.append(f"<LegalHold>{json.dumps(blob.is_held)}</LegalHold></Properties>")
        return f"<Blob>{''.join(said)}</Blob>"


def _time(moment: datetime) -> str:
    return format_datetime(moment.astimezone(UTC), usegmt=True)


def _error(code: str, status: int) -> Reply:
    return Reply(b"", status, {"x-ms-error-code": code})
