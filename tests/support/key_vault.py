"""An Azure Key Vault emulator with real keys: RSA to wrap, EC P-256 to sign, with raw r‖s signatures like Azure."""

import base64
import json
import secrets
import time
from functools import cache
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed, decode_dss_signature, encode_dss_signature

from tests.support.web_server import Reply, Request, json_reply

_OAEP = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
_OPS = {"RSA": ["wrapKey", "unwrapKey"], "EC": ["sign", "verify"]}
_PERMISSIONS = {"wrapkey": "wrapKey", "unwrapkey": "unwrapKey"}


@cache
def _rsa_key(vault: str, number: int) -> rsa.RSAPrivateKey:
    """Return the nth key of a vault, cached for the process, because generating a key is slow."""
    return rsa.generate_private_key(65537, 2048)


class VaultKey:
    def __init__(self, kid: str, kind: str, material: Any) -> None:
        self.kid, self.kind = kid, kind
        self.attributes: dict[str, Any] = {"enabled": True, "recoveryLevel": "Recoverable+Purgeable"}
        self.operations = list(_OPS[kind])
        self.material = material

    def as_json(self) -> dict[str, Any]:
        numbers = self.material.public_key().public_numbers()
        public = (
            {"n": _number(numbers.n, 256), "e": _number(numbers.e, 3)}
            if self.kind == "RSA"
            else {"crv": "P-256", "x": _number(numbers.x, 32), "y": _number(numbers.y, 32)}
        )
        return {
            "key": {"kid": self.kid, "kty": self.kind, "key_ops": self.operations, **public},
            "attributes": self.attributes,
        }

    @property
    def refusal(self) -> str:
        """Return Azure's code for why the key cannot be used now, or an empty text."""
        now = time.time()
        if not self.attributes["enabled"]:
            return "KeyDisabled"
        if now < self.attributes.get("nbf", now):
            return "KeyNotYetValid"
        return "KeyExpired" if now > self.attributes.get("exp", now) else ""


class KeyVault:
    """A vault: keys by name, each with its versions in order."""

    def __init__(self) -> None:
        self.url = ""
        self.keys: dict[str, list[VaultKey]] = {}
        self.deleted: dict[str, list[VaultKey]] = {}
        """Deleted keys that can still be recovered."""

    def key(self, name: str, kind: str = "RSA") -> str:
        """Create a key, or its next version. Return its address, without the version."""
        url = f"{self.url}/keys/{name}"
        number = sum(map(len, (*self.keys.values(), *self.deleted.values())))
        material = _rsa_key(self.url, number) if kind == "RSA" else ec.generate_private_key(ec.SECP256R1())
        self.keys.setdefault(name, []).append(VaultKey(f"{url}/{secrets.token_hex(16)}", kind, material))
        return url

    def delete(self, name: str) -> None:
        """Soft-delete a key."""
        self.deleted[name] = self.keys.pop(name)

    def answer(self, request: Request, permissions: set[str]) -> Reply:
        """Answer a caller with these permissions of an access policy: get, sign, wrapKey …"""
        _, name, *parts = request.path.strip("/").split("/")
        version = parts[0] if len(parts) > (request.method == "POST") else ""
        verb = parts[-1] if request.method == "POST" else ""
        needed = _PERMISSIONS.get(verb, verb) or "get"
        if needed not in permissions:
            return _error(
                403, "Forbidden", "The user, group or application does not have permission.", "ForbiddenByRbac"
            )
        key = next((key for key in reversed(self.keys.get(name, ())) if key.kid.endswith(version)), None)
        if key is None:
            return _error(404, "KeyNotFound", f"A key with (name/id) {name} was not key in this key vault.")
        if not verb:
            return json_reply(key.as_json())
        if key.refusal:
            return _error(403, "Forbidden", "Operation is not allowed on this key.", key.refusal)
        if needed not in key.operations:
            return _error(403, "Forbidden", f"Operation {verb} is not permitted on this key.", "KeyOperationForbidden")
        try:
            value = _done(key, verb, json.loads(request.body))
        except ValueError:  # another key wrapped the value
            return _error(400, "BadParameter", "The parameter is incorrect.")
        return json_reply({"kid": key.kid, "value": _encoded(value)})


def _done(key: VaultKey, verb: str, body: dict[str, str]) -> bytes:
    value = _decoded(body["value"])
    if verb in ("wrapkey", "unwrapkey"):
        assert body["alg"] == "RSA-OAEP-256"
        return (
            key.material.public_key().encrypt(value, _OAEP) if verb == "wrapkey" else key.material.decrypt(value, _OAEP)
        )
    if (verb, body["alg"], len(value)) != ("sign", "ES256", 32):
        raise ValueError("no digest")
    r, s = decode_dss_signature(key.material.sign(value, ec.ECDSA(Prehashed(hashes.SHA256()))))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def as_der(signature: bytes) -> bytes:
    """Convert a signature of Key Vault to DER."""
    return encode_dss_signature(int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))


def _error(status: int, code: str, message: str, inner: str = "") -> Reply:
    more = {"innererror": {"code": inner}} if inner else {}
    return json_reply({"error": {"code": code, "message": message, **more}}, status)


def _number(value: int, size: int) -> str:
    return _encoded(value.to_bytes(size, "big"))


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
