"""Service accounts of the Google emulators: they sign in with their keys and have the permissions granted to them."""

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
        """The permissions of each account, by its address."""
        self._keys: dict[str, rsa.RSAPublicKey] = {}
        self._tokens: dict[str, tuple[str, str]] = {}

    def service_account(self, name: str, *permissions: str) -> dict[str, Any]:
        """Create a service account with these permissions on all resources. Return its key in Google's format."""
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
        """Exchange a signed assertion for a token (RFC 7523)."""
        form = parse_qs(request.body.decode())
        head, claims, signature = form["assertion"][0].split(".")
        claim_set = json.loads(_decoded(claims))
        try:
            self._keys[claim_set["iss"]].verify(
                _decoded(signature), f"{head}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256()
            )
        except (KeyError, InvalidSignature):
            return json_reply({"error": "invalid_grant", "error_description": "Invalid JWT Signature."}, 400)
        is_meant = claim_set["aud"].endswith("/token") and claim_set["iat"] - 60 <= time.time() <= claim_set["exp"]
        if not is_meant or not claim_set.get("scope"):
            return json_reply({"error": "invalid_scope"}, 400)
        token = secrets.token_urlsafe()
        self._tokens[token] = claim_set["iss"], claim_set["scope"]
        return json_reply({"access_token": token, "expires_in": 3600, "token_type": "Bearer"})

    def who(self, request: Request, scope: str) -> str | None:
        """Return the account of a request's token, or None if the token does not have this scope."""
        token = (request.headers.get("Authorization") or "").removeprefix("Bearer ")
        email, scopes = self._tokens.get(token, ("", ""))
        return email if scope in scopes else None

    def may(self, email: str, permission: str) -> bool:
        return permission in self.granted[email]


@cache
def _rsa_key(name: str) -> rsa.RSAPrivateKey:
    """Return a name's key, cached for the process. Short keys are faster to generate and to parse."""
    return rsa.generate_private_key(65537, 1024)


def error(status: int, message: str, name: str = "", reason: str = "") -> Reply:
    details: dict[str, Any] = {"status": name} if name else {}
    if reason:
        details["errors"] = [{"reason": reason, "message": message}]
    return json_reply({"error": {"code": status, "message": message, **details}}, status)


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
