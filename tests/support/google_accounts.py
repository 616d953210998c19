"""Who is who at the tests' Google: service accounts sign in by their keys, and may do what they were granted."""

import base64
import json
import secrets
import time
from functools import cache
from typing import Any
from urllib.parse import parse_qs

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.support.web_server import Reply, Request, json_reply


class Accounts:
    def __init__(self) -> None:
        self.url = ""
        self.granted: dict[str, set[str]] = {}
        """What each account may do, by its address."""
        self._keys: dict[str, rsa.RSAPublicKey] = {}
        self._tokens: dict[str, tuple[str, str]] = {}

    def service_account(self, name: str, *permissions: str) -> dict[str, Any]:
        """A key as Google hands it out, of an account that has these permissions on everything."""
        key = _rsa_key(name)
        email = f"{name}@tests.iam.gserviceaccount.com"
        self._keys[email] = key.public_key()
        self.granted[email] = {*self.granted.get(email, ()), *permissions}
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

    def sign_in(self, request: Request) -> Reply:
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
        if not is_meant or not said.get("scope"):
            return json_reply({"error": "invalid_scope"}, 400)
        token = secrets.token_urlsafe()
        self._tokens[token] = said["iss"], said["scope"]
        return json_reply({"access_token": token, "expires_in": 3600, "token_type": "Bearer"})

    def who(self, request: Request, scope: str) -> str | None:
        """The account that sends a request with a token good for this; None if it has none."""
        token = (request.headers.get("Authorization") or "").removeprefix("Bearer ")
        email, scopes = self._tokens.get(token, ("", ""))
        return email if scope in scopes else None

    def may(self, email: str, permission: str) -> bool:
        return permission in self.granted[email]


@cache
def _rsa_key(name: str) -> rsa.RSAPrivateKey:
    """Each name has one in a process, and a short one: making it takes a while, and so does each reading."""
    return rsa.generate_private_key(65537, 1024)


def error(status: int, message: str, name: str = "", reason: str = "") -> Reply:
    details: dict[str, Any] = {"status": name} if name else {}
    if reason:
        details["errors"] = [{"reason": reason, "message": message}]
    return json_reply({"error": {"code": status, "message": message, **details}}, status)


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
