"""A Google Cloud Storage: it signs in service accounts by their keys, and looks at generations and ranges."""

import base64
import json
import secrets
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, unquote

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.support.web_server import Reply, Request, json_reply, web_server

_PAGE = 100


class _Object:
    def __init__(self, body: bytes, generation: int) -> None:
        self.body, self.generation, self.updated = body, generation, datetime.now(UTC)


class GcsServer:
    """Buckets, and who may read them."""

    def __init__(self) -> None:
        self.url = ""
        self.buckets: dict[str, dict[str, _Object]] = {}
        self.readers: set[str] = set()
        """The service accounts that may read every bucket."""
        self._keys: dict[str, rsa.RSAPublicKey] = {}
        self._tokens: dict[str, str] = {}
        self._generation = int(time.time() * 1e6)

    def service_account(self, name: str) -> dict[str, Any]:
        """A key as Google hands it out."""
        key = rsa.generate_private_key(65537, 2048)
        email = f"{name}@tests.iam.gserviceaccount.com"
        self._keys[email] = key.public_key()
        pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return {
            "type": "service_account",
            "project_id": "tests",
            "private_key_id": secrets.token_hex(8),
            "private_key": pem.decode(),
            "client_email": email,
            "token_uri": f"{self.url}/token",
        }

    def put(self, bucket: str, name: str, body: bytes) -> None:
        self._generation += 1
        self.buckets[bucket][name] = _Object(body, self._generation)

    def answer(self, request: Request) -> Reply:
        if request.path == "/token":
            return self._sign_in(request)
        token = (request.headers.get("Authorization") or "").removeprefix("Bearer ")
        if token not in self._tokens:
            return _error(401, "Invalid Credentials")
        if self._tokens[token] not in self.readers:
            return _error(403, "does not have storage.objects.list access")
        prefix, _, rest = request.path.partition("/storage/v1/b/")
        bucket, _, name = rest.partition("/o")
        if bucket not in self.buckets:
            return _error(404, "The specified bucket does not exist.")
        objects = self.buckets[bucket]
        if not name:
            return _listing(objects, request.query)
        return _reading(objects.get(unquote(name[1:])), request, is_download=prefix == "/download")

    def _sign_in(self, request: Request) -> Reply:
        """RFC 7523: a grant for a signed assertion."""
        form = parse_qs(request.body.decode())
        head, claims, signature = form["assertion"][0].split(".")
        said = json.loads(_decoded(claims))
        try:
            self._keys[said["iss"]].verify(
                _decoded(signature), f"{head}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256()
            )
        except (KeyError, InvalidSignature):
            return json_reply({"error": "invalid_grant", "error_description": "Invalid JWT Signature."}, 400)
        is_meant = said["aud"].endswith("/token") and said["iat"] - 60 <= time.time() <= said["exp"]
        if not is_meant or "read_only" not in said["scope"]:
            return json_reply({"error": "invalid_scope"}, 400)
        token = secrets.token_urlsafe()
        self._tokens[token] = said["iss"]
        return json_reply({"access_token": token, "expires_in": 3600, "token_type": "Bearer"})


def _listing(objects: dict[str, _Object], query: dict[str, str]) -> Reply:
    start = max(query.get("startOffset", ""), query.get("pageToken", ""))
    names = sorted(name for name in objects if name.startswith(query.get("prefix", "")) and name >= start)
    items = [
        {
            "name": name,
            "generation": str(objects[name].generation),
            "size": str(len(objects[name].body)),
            "updated": objects[name].updated.isoformat().replace("+00:00", "Z"),
        }
        for name in names[:_PAGE]
    ]
    more = {"nextPageToken": names[_PAGE]} if len(names) > _PAGE else {}
    return json_reply({"kind": "storage#objects", "items": items, **more})


def _reading(found: _Object | None, request: Request, *, is_download: bool) -> Reply:
    wanted = request.query.get("generation")
    if found is None or (wanted and int(wanted) != found.generation):
        return _error(404, "No such object.")
    matching = request.query.get("ifGenerationMatch")
    if matching and int(matching) != found.generation:
        return _error(412, "At least one of the pre-conditions you specified did not hold.")
    if not is_download:
        return json_reply({"generation": str(found.generation), "size": str(len(found.body))})
    begin, _, end = (request.headers.get("Range") or "bytes=0-").removeprefix("bytes=").partition("-")
    if int(begin) >= len(found.body):
        return _error(416, "The requested range cannot be satisfied.")
    part = found.body[int(begin) : int(end or len(found.body)) + 1]
    span = f"bytes {begin}-{int(begin) + len(part) - 1}/{len(found.body)}"
    encoding = {"Content-Encoding": "gzip"} if found.body.startswith(b"\x1f\x8b") else {}
    return Reply(part, 206, {"Content-Range": span, "X-Goog-Generation": str(found.generation), **encoding})


def _error(status: int, message: str) -> Reply:
    return json_reply({"error": {"code": status, "message": message}}, status)


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@contextmanager
def gcs_server(context: ssl.SSLContext) -> Iterator[GcsServer]:
    storage = GcsServer()
    with web_server(storage.answer, context) as server:
        storage.url = server.url
        yield storage
