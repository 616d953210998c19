"""A Google Cloud Storage that keeps to generations, preconditions, checksums, versions, retention and soft delete.

It also speaks Cloud KMS (`tests.support.cloud_kms`), at the same address.
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
    """One generation of an object."""

    def __init__(self, name: str, body: bytes, generation: int) -> None:
        self.name, self.body, self.generation = name, body, generation
        self.updated = datetime.now(UTC)
        self.deleted_at: datetime | None = None
        """Since when it is no longer the live one."""
        self.retention: dict[str, str] | None = None
        self.is_held = False
        self.gone_at: datetime | None = None
        """If it was soft-deleted: until then it can be restored."""

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
    """The live objects by name, the others beside them, and the bucket's settings as Google's JSON has them."""

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

    def kept_until(self, found: Object) -> datetime | None:
        """By the bucket's policy or the object's own retention, whichever is longer."""
        policy, until = self.settings.get("retentionPolicy"), (found.retention or {}).get("retainUntilTime")
        ends = [found.updated + timedelta(seconds=int(policy["retentionPeriod"]))] if policy else []
        ends += [datetime.fromisoformat(until)] if until else []
        return max(ends, default=None)

    def is_locked(self, found: Object) -> bool:
        until = self.kept_until(found)
        return found.is_held or (until is not None and datetime.now(UTC) < until)

    def described(self, found: Object) -> dict[str, Any]:
        until = self.kept_until(found)
        return {**found.as_json(), **({"retentionExpirationTime": _time(until)} if until else {})}

    def retire(self, name: str) -> None:
        """The live object becomes a former one where there are versions; else it is gone."""
        found = self.pop(name)
        if self.settings.get("versioning", {}).get("enabled"):
            found.deleted_at = datetime.now(UTC)
            self.former.append(found)
        else:
            self.drop(found)

    def drop(self, found: Object) -> None:
        """It is gone, or soft-deleted: then it can be listed, and neither read nor removed."""
        seconds = int(self.settings.get("softDeletePolicy", {}).get("retentionDurationSeconds", 0))
        if seconds:
            found.gone_at = datetime.now(UTC) + timedelta(seconds=seconds)
            self.soft_deleted.append(found)


class GcsServer(Accounts):
    """Buckets and keys, and who may use them."""

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
        """No buckets, no keys, and nothing fails."""
        self.buckets.clear()
        self.kms.keys.clear()
        self.front.forget()

    def reader(self, name: str) -> dict[str, Any]:
        """The key of a service account that may read every bucket."""
        return self.service_account(name, *_READER)

    def put(self, bucket: str, name: str, body: bytes) -> Object:
        with self._lock:
            self._generation += 1
            if name in self.buckets[bucket]:
                self.buckets[bucket].retire(name)
            made = self.buckets[bucket][name] = Object(name, body, self._generation)
            return made

    def answer(self, request: Request) -> Reply:
        if request.path == "/token":
            return self.sign_in(request)
        if request.path.startswith("/v1/projects/"):
            return self.kms.answer(request)
        email = self.who(request, "devstorage")
        if email is None:
            return error(401, "Invalid Credentials")
        kind, _, rest = request.path.partition("/storage/v1/b/")
        name, _, rest = rest.partition("/")
        with self._lock:
            if name not in self.buckets:
                return error(404, "The specified bucket does not exist.", reason="notFound")
            return self._of_bucket(request, email, name, unquote(rest.removeprefix("o").removeprefix("/")), kind, rest)

    def _of_bucket(self, request: Request, email: str, name: str, key: str, kind: str, rest: str) -> Reply:
        bucket = self.buckets[name]
        if rest == "iam/testPermissions":
            asked = [value for named, value in request.pairs if named == "permissions"]
            return json_reply({"permissions": [each for each in asked if self.may(email, each)]})
        needed = _needed(request.method, key, rest)
        if not self.may(email, needed):
            return error(403, f"{email} does not have {needed} access", reason="forbidden")
        if not rest:
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
        made = self.put(name, key, body)
        made.retention = described.get("retention")
        return json_reply(made.as_json())

    def _patch(self, bucket: Bucket, key: str, request: Request) -> Reply:
        found, changes = _find(bucket, key, request), json.loads(request.body)
        if found is None:
            return error(404, "No such object.", reason="notFound")
        if "retention" in changes and bucket.is_locked(found) and (found.retention or {}).get("mode") == "Locked":
            until = (changes["retention"] or {}).get("retainUntilTime", "")
            if until < found.retention["retainUntilTime"]:  # type: ignore[index]
                return _retained()
        found.retention = changes.get("retention", found.retention)
        return json_reply(found.as_json())


def _needed(method: str, key: str, rest: str) -> str:
    if not rest:
        return "storage.buckets.get"
    if method == "GET":
        return "storage.objects.get" if key else "storage.objects.list"
    return {"POST": "storage.objects.create", "DELETE": "storage.objects.delete"}.get(method, "storage.objects.update")


def _uploaded(request: Request) -> tuple[dict[str, Any], bytes]:
    """What is said of an upload, and its body."""
    if request.query.get("uploadType") == "media":
        return {"name": request.query["name"]}, request.body
    head = f"Content-Type: {request.headers['Content-Type']}\r\n\r\n".encode()
    parts = BytesParser().parsebytes(head + request.body).get_payload()
    boundary = request.headers["Content-Type"].partition("boundary=")[2].strip("\"'").encode()
    last = request.body.split(b"\r\n--" + boundary)[-2]  # as it came: a parser of mail may change line ends
    return json.loads(parts[0].get_payload()), last.partition(b"\r\n\r\n")[2]  # type: ignore[union-attr]


def _is_unmet(live: Object | None, request: Request) -> bool:
    wanted = request.query.get("ifGenerationMatch")
    return wanted is not None and int(wanted) != (live.generation if live else 0)


def _find(bucket: Bucket, key: str, request: Request) -> Object | None:
    wanted = request.query.get("generation")
    if wanted is None:
        return bucket.get(key)
    known = [*bucket.former, *bucket.values()]
    return next((found for found in known if found.name == key and found.generation == int(wanted)), None)


def _delete(bucket: Bucket, key: str, request: Request) -> Reply:
    found = _find(bucket, key, request)
    if found is None:
        return error(404, "No such object.", reason="notFound")
    if _is_unmet(found, request):
        return error(412, _UNMET, reason="conditionNotMet")
    names_one = "generation" in request.query
    is_kept = bucket.settings.get("versioning", {}).get("enabled") and not names_one
    if bucket.is_locked(found) and not is_kept:
        return _retained()
    if found in bucket.former:
        bucket.former.remove(found)
        bucket.drop(found)
    elif names_one:
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
    matching = [found for found in known if found.name.startswith(query.get("prefix", "")) and found.name >= start]
    found = sorted(matching, key=lambda each: (each.name, each.generation))
    size = min(int(query.get("maxResults", _PAGE)), _PAGE)
    more = {"nextPageToken": found[size].name} if len(found) > size else {}
    return json_reply({"kind": "storage#objects", "items": [bucket.described(each) for each in found[:size]], **more})


def _reading(found: Object | None, request: Request, *, is_download: bool) -> Reply:
    if found is None:
        return error(404, "No such object.", reason="notFound")
    if _is_unmet(found, request):
        return error(412, _UNMET, reason="conditionNotMet")
    if not is_download and request.query.get("alt") != "media":
        return json_reply(found.as_json())
    begin, _, end = (request.headers.get("Range") or "bytes=0-").removeprefix("bytes=").partition("-")
    if found.body and int(begin) >= len(found.body):
        return error(416, "The requested range cannot be satisfied.")
    part = found.body[int(begin) : int(end or len(found.body)) + 1]
    headers = {"X-Goog-Generation": str(found.generation), "X-Goog-Hash": f"crc32c={crc32c(found.body)}"}
    if found.body.startswith(b"\x1f\x8b"):
        headers["Content-Encoding"] = "gzip"
    if "Range" not in request.headers:
        return Reply(part, 200, headers)
    span = f"bytes {begin}-{int(begin) + len(part) - 1}/{len(found.body)}"
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
