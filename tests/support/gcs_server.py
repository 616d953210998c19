"""A Google Cloud Storage emulator with generations, preconditions, checksums, versions, retention and soft delete.

It also serves Cloud KMS (`tests.support.cloud_kms`) at the same address.
"""

import base64
import hashlib
import json
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.parser import BytesParser
from threading import RLock
from typing import Any
from urllib.parse import unquote

import google_crc32c

from tests.support.cloud_kms import CloudKms
from tests.support.faults import Faults
from tests.support.google_accounts import Accounts, error
from tests.support.web_server import Reply, Request, WebServer, json_reply, web_server

_PAGE = 100
_READER = ("storage.objects.get", "storage.objects.list")
_UNMET = "At least one of the pre-conditions you specified did not hold."


class Object:
    """A generation of an object."""

    def __init__(self, name: str, body: bytes, generation: int) -> None:
        self.name, self.body, self.generation = name, body, generation
        self.updated = datetime.now(UTC)
        self.deleted_at: datetime | None = None
        """The time from which it is no longer the live generation."""
        self.retention: dict[str, str] | None = None
        self.is_held = False
        self.gone_at: datetime | None = None
        """The time until which it can be restored, if it was soft-deleted."""

    def as_json(self) -> dict[str, Any]:
        deleted = {"timeDeleted": _time(self.deleted_at)} if self.deleted_at else {}
        retention = {"retention": self.retention} if self.retention else {}
        gone = {"hardDeleteTime": _time(self.gone_at)} if self.gone_at else {}
        return {
            "kind": "storage#object",
            "name": self.name,
            "generation": str(self.generation),
            "metageneration": "1",
            "size": str(len(self.body)),
            "timeCreated": _time(self.updated),
            "updated": _time(self.updated),
            "crc32c": crc32c(self.body),
            "md5Hash": base64.b64encode(hashlib.md5(self.body).digest()).decode(),
            **deleted,
            **retention,
            **gone,
        }


class Bucket(dict[str, Object]):
    """A bucket: the live objects by name, former and soft-deleted objects, and the settings in Google's JSON."""

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.former: list[Object] = []
        self.soft_deleted: list[Object] = []
        self.settings: dict[str, Any] = {
            "location": "EUROPE-WEST3",
            "iamConfiguration": {
                "uniformBucketLevelAccess": {"enabled": True},
                "publicAccessPrevention": "enforced",
            },
            **settings,
        }

    def retained_until(self, blob: Object) -> datetime | None:
        """Return the end of retention, by the bucket's policy or the object, whichever is later."""
        policy, until = self.settings.get("retentionPolicy"), (blob.retention or {}).get("retainUntilTime")
        ends = [blob.updated + timedelta(seconds=int(policy["retentionPeriod"]))] if policy else []
        ends += [datetime.fromisoformat(until)] if until else []
        return max(ends, default=None)

    def is_locked(self, blob: Object) -> bool:
        until = self.retained_until(blob)
        return blob.is_held or (until is not None and datetime.now(UTC) < until)

    def described(self, blob: Object) -> dict[str, Any]:
        until = self.retained_until(blob)
        return {**blob.as_json(), **({"retentionExpirationTime": _time(until)} if until else {})}

    def retire(self, name: str) -> None:
        """Make the live object a former one. Without versioning, delete it."""
        blob = self.pop(name)
        if self.settings.get("versioning", {}).get("enabled"):
            blob.deleted_at = datetime.now(UTC)
            self.former.append(blob)
        else:
            self.drop(blob)

    def drop(self, blob: Object) -> None:
        """Delete an object. A soft-deleted object can be listed, but not read or removed."""
        seconds = int(self.settings.get("softDeletePolicy", {}).get("retentionDurationSeconds", 0))
        if seconds:
            blob.gone_at = datetime.now(UTC) + timedelta(seconds=seconds)
            self.soft_deleted.append(blob)


class GcsServer(Accounts):
    """The emulator: buckets, keys, and accounts with their permissions."""

    def __init__(self) -> None:
        super().__init__()
        self.buckets: dict[str, Bucket] = {}
        self.kms = CloudKms(self)
        self.front: WebServer
        self._generation = int(time.time() * 1e6)
        self._lock = RLock()

    @property
    def faults(self) -> Faults:
        return self.front.faults

    def reset(self) -> None:
        """Remove all buckets, keys and faults."""
        self.buckets.clear()
        self.kms.keys.clear()
        self.front.forget()

    def reader(self, name: str) -> dict[str, Any]:
        """Return the key of a service account that may read every bucket."""
        return self.service_account(name, *_READER)

    def put(self, bucket: str, name: str, body: bytes) -> Object:
        with self._lock:
            self._generation += 1
            if name in self.buckets[bucket]:
                self.buckets[bucket].retire(name)
            blob = self.buckets[bucket][name] = Object(name, body, self._generation)
            return blob

    def answer(self, request: Request) -> Reply:
        if request.path == "/token":
            return self.sign_in(request)
        if request.path.startswith("/v1/projects/"):
            return self.kms.answer(request)
        email = self.who(request, "devstorage")
        if email is None:
            return error(401, "Invalid Credentials")
        kind, _, path = request.path.partition("/storage/v1/b/")
        name, _, path = path.partition("/")
        with self._lock:
            if name not in self.buckets:
                return error(404, "The specified bucket does not exist.", reason="notFound")
            return self._of_bucket(request, email, name, unquote(path.removeprefix("o").removeprefix("/")), kind, path)

    def _of_bucket(self, request: Request, email: str, name: str, key: str, kind: str, path: str) -> Reply:
        bucket = self.buckets[name]
        if path == "iam/testPermissions":
            asked = [value for named, value in request.pairs if named == "permissions"]
            return json_reply({"permissions": [permission for permission in asked if self.may(email, permission)]})
        needed = _needed(request.method, key, path)
        if not self.may(email, needed):
            return error(403, f"{email} does not have {needed} access", reason="forbidden")
        if not path:
            return json_reply({"kind": "storage#bucket", "name": name, **bucket.settings})
        if kind == "/upload":
            return self._insert(request, name)
        if not key:
            return _listing(bucket, request.query)
        if request.method == "DELETE":
            return _delete(bucket, key, request)
        if request.method == "PATCH":
            return self._patch(bucket, key, request)
        return _reading(_find(bucket, key, request), request, is_download=kind == "/download")

    def _insert(self, request: Request, name: str) -> Reply:
        described, body = _uploaded(request)
        key = described.get("name") or request.query["name"]
        bucket = self.buckets[name]
        live = bucket.get(key)
        if _is_unmet(live, request):
            return error(412, _UNMET, reason="conditionNotMet")
        if described.get("crc32c", crc32c(body)) != crc32c(body):
            return error(400, "Provided CRC32C does not match calculated CRC32C.", reason="invalid")
        if live and bucket.is_locked(live):
            return _retained()
        blob = self.put(name, key, body)
        blob.retention = described.get("retention")
        return json_reply(blob.as_json())

    def _patch(self, bucket: Bucket, key: str, request: Request) -> Reply:
        blob, changes = _find(bucket, key, request), json.loads(request.body)
        if blob is None:
            return error(404, "No such object.", reason="notFound")
        if "retention" in changes and bucket.is_locked(blob) and (blob.retention or {}).get("mode") == "Locked":
            until = (changes["retention"] or {}).get("retainUntilTime", "")
            if until < blob.retention["retainUntilTime"]:  # type: ignore[index]
                return _retained()
        blob.retention = changes.get("retention", blob.retention)
        return json_reply(blob.as_json())


def _needed(method: str, key: str, path: str) -> str:
    if not path:
        return "storage.buckets.get"
    if method == "GET":
        return "storage.objects.get" if key else "storage.objects.list"
    return {"POST": "storage.objects.create", "DELETE": "storage.objects.delete"}.get(method, "storage.objects.update")


def _uploaded(request: Request) -> tuple[dict[str, Any], bytes]:
    """Return the metadata and the body of an upload."""
    if request.query.get("uploadType") == "media":
        return {"name": request.query["name"]}, request.body
    head = f"Content-Type: {request.headers['Content-Type']}\r\n\r\n".encode()
    parts = BytesParser().parsebytes(head + request.body).get_payload()
    boundary = request.headers["Content-Type"].partition("boundary=")[2].strip("\"'").encode()
    last = request.body.split(b"\r\n--" + boundary)[-2]  # not the parsed part: a mail parser may change line ends
    return json.loads(parts[0].get_payload()), last.partition(b"\r\n\r\n")[2]  # type: ignore[union-attr]


def _is_unmet(live: Object | None, request: Request) -> bool:
    wanted = request.query.get("ifGenerationMatch")
    return wanted is not None and int(wanted) != (live.generation if live else 0)


def _find(bucket: Bucket, key: str, request: Request) -> Object | None:
    wanted = request.query.get("generation")
    if wanted is None:
        return bucket.get(key)
    known = [*bucket.former, *bucket.values()]
    return next((blob for blob in known if blob.name == key and blob.generation == int(wanted)), None)


def _delete(bucket: Bucket, key: str, request: Request) -> Reply:
    blob = _find(bucket, key, request)
    if blob is None:
        return error(404, "No such object.", reason="notFound")
    if _is_unmet(blob, request):
        return error(412, _UNMET, reason="conditionNotMet")
    has_generation = "generation" in request.query
    becomes_former = bucket.settings.get("versioning", {}).get("enabled") and not has_generation
    if bucket.is_locked(blob) and not becomes_former:
        return _retained()
    if blob in bucket.former:
        bucket.former.remove(blob)
        bucket.drop(blob)
    elif has_generation:
        bucket.drop(bucket.pop(key))
    else:
        bucket.retire(key)
    return Reply(b"", 204)


def _retained() -> Reply:
    return error(
        403, "Object is under active retention and cannot be deleted or overwritten.", reason="retentionPolicyNotMet"
    )


def _listing(bucket: Bucket, query: dict[str, str]) -> Reply:
    start = max(query.get("startOffset", ""), query.get("pageToken", ""))
    known = list(bucket.values())
    if query.get("versions", "").lower() == "true":
        known += bucket.former
    if query.get("softDeleted", "").lower() == "true":
        known = bucket.soft_deleted
    matching = [blob for blob in known if blob.name.startswith(query.get("prefix", "")) and blob.name >= start]
    blobs = sorted(matching, key=lambda blob: (blob.name, blob.generation))
    size = min(int(query.get("maxResults", _PAGE)), _PAGE)
    more = {"nextPageToken": blobs[size].name} if len(blobs) > size else {}
    return json_reply({"kind": "storage#objects", "items": [bucket.described(blob) for blob in blobs[:size]], **more})


def _reading(blob: Object | None, request: Request, *, is_download: bool) -> Reply:
    if blob is None:
        return error(404, "No such object.", reason="notFound")
    if _is_unmet(blob, request):
        return error(412, _UNMET, reason="conditionNotMet")
    if not is_download and request.query.get("alt") != "media":
        return json_reply(blob.as_json())
    begin, _, end = (request.headers.get("Range") or "bytes=0-").removeprefix("bytes=").partition("-")
    if blob.body and int(begin) >= len(blob.body):
        return error(416, "The requested range cannot be satisfied.")
    part = blob.body[int(begin) : int(end or len(blob.body)) + 1]
    headers = {"X-Goog-Generation": str(blob.generation), "X-Goog-Hash": f"crc32c={crc32c(blob.body)}"}
    if blob.body.startswith(b"\x1f\x8b"):
        headers["Content-Encoding"] = "gzip"
    if "Range" not in request.headers:
        return Reply(part, 200, headers)
    span = f"bytes {begin}-{int(begin) + len(part) - 1}/{len(blob.body)}"
    return Reply(part, 206, {"Content-Range": span, **headers})


def crc32c(body: bytes) -> str:
    return base64.b64encode(google_crc32c.value(body).to_bytes(4, "big")).decode()


def _time(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


@contextmanager
def gcs_server(context: ssl.SSLContext) -> Iterator[GcsServer]:
    google = GcsServer()
    with web_server(google.answer, context) as server:
        google.front, google.url = server, server.url
        yield google
