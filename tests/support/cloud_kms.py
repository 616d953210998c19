"""A Google Cloud KMS emulator with real keys: AES-GCM to wrap, EC P-256 and Ed25519 to sign."""

import base64
import json
import os
import re
from collections.abc import Callable
from typing import Any

import google_crc32c
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tests.support.google_accounts import Accounts, error
from tests.support.web_server import Reply, Request, json_reply

_MAKE: dict[str, Callable[[], Any]] = {
    "GOOGLE_SYMMETRIC_ENCRYPTION": lambda: AESGCM(os.urandom(32)),
    "EC_SIGN_P256_SHA256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "EC_SIGN_ED25519": ed25519.Ed25519PrivateKey.generate,
}
_NEEDED = {
    "encrypt": "cloudkms.cryptoKeyVersions.useToEncrypt",
    "decrypt": "cloudkms.cryptoKeyVersions.useToDecrypt",
    "asymmetricSign": "cloudkms.cryptoKeyVersions.useToSign",
    "publicKey": "cloudkms.cryptoKeyVersions.viewPublicKey",
    "getIamPolicy": "cloudkms.cryptoKeys.getIamPolicy",
}


class Version:
    def __init__(self, algorithm: str) -> None:
        self.algorithm, self.state, self.material = algorithm, "ENABLED", _MAKE[algorithm]()


class CryptoKey:
    """A key. Its newest version is the primary version."""

    def __init__(self, name: str, algorithm: str) -> None:
        self.name, self.algorithm = name, algorithm
        self.versions = [Version(algorithm)]
        self.bindings: list[dict[str, Any]] = []
        """The bindings of its IAM policy."""

    @property
    def version(self) -> str:
        """Return the name of the primary version."""
        return self.name_of(self.versions[-1])

    def name_of(self, version: Version) -> str:
        return f"{self.name}/cryptoKeyVersions/{self.versions.index(version) + 1}"

    def rotate(self) -> None:
        self.versions.append(Version(self.algorithm))

    def set_state(self, state: str) -> None:
        """Set the state of every version: ENABLED, DISABLED, DESTROY_SCHEDULED or DESTROYED."""
        for version in self.versions:
            version.state = state

    def as_json(self) -> dict[str, Any]:
        is_symmetric = self.algorithm == "GOOGLE_SYMMETRIC_ENCRYPTION"
        primary = {"primary": self.version_json(self.versions[-1])} if is_symmetric else {}
        return {
            "name": self.name,
            "purpose": "ENCRYPT_DECRYPT" if is_symmetric else "ASYMMETRIC_SIGN",
            "versionTemplate": {"algorithm": self.algorithm, "protectionLevel": "SOFTWARE"},
            **primary,
        }

    def version_json(self, version: Version) -> dict[str, Any]:
        return {"name": self.name_of(version), "state": version.state, "algorithm": version.algorithm}


class CloudKms:
    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self.keys: dict[str, CryptoKey] = {}

    def key(
        self, name: str, algorithm: str = "GOOGLE_SYMMETRIC_ENCRYPTION", location: str = "europe-west3"
    ) -> CryptoKey:
        """Create a key."""
        name = f"projects/tests/locations/{location}/keyRings/ring/cryptoKeys/{name}"
        key = self.keys[name] = CryptoKey(name, algorithm)
        return key

    def answer(self, request: Request) -> Reply:
        email = self._accounts.who(request, "cloudkms")
        if email is None:
            return error(401, "Request had invalid authentication credentials.", "UNAUTHENTICATED")
        path, _, verb = request.path.removeprefix("/v1/").partition(":")
        if path.endswith("/publicKey"):
            path, verb = path.removesuffix("/publicKey"), "publicKey"
        match = re.fullmatch(r"(.*/cryptoKeys/[^/]+)(?:/cryptoKeyVersions/(\d+))?", path)
        key = self.keys.get(match[1]) if match else None
        if verb == "testIamPermissions":
            asked = json.loads(request.body)["permissions"]
            return json_reply({"permissions": [name for name in asked if key and self._accounts.may(email, name)]})
        number = int(match[2] or 0) if match else 0
        needed = _NEEDED.get(verb) or f"cloudkms.cryptoKey{'Version' if number else ''}s.get"
        if not self._accounts.may(email, needed):
            return error(403, f"Permission '{needed}' denied on resource (or it may not exist).", "PERMISSION_DENIED")
        if key is None or number > len(key.versions):
            return error(404, f"{path} not match.", "NOT_FOUND")
        version = key.versions[number - 1]  # 0 means the primary version, which is the last
        return _done(key, version, verb, json.loads(request.body or b"{}"), is_version=bool(number))


def _done(key: CryptoKey, version: Version, verb: str, body: dict[str, Any], *, is_version: bool) -> Reply:
    if not verb:
        return json_reply(key.version_json(version) if is_version else key.as_json())
    if verb == "getIamPolicy":
        return json_reply({"bindings": key.bindings})
    if verb == "decrypt":
        return _decrypt(key, body)
    if version.state != "ENABLED":
        return _unusable(key, version)
    does = {"encrypt": _encrypt, "asymmetricSign": _sign, "publicKey": _public_key}
    return json_reply({"name": key.name_of(version), **does[verb](key, version, body)})


def _encrypt(key: CryptoKey, version: Version, body: dict[str, Any]) -> dict[str, Any]:
    plaintext, extra = _bytes(body, "plaintext"), _bytes(body, "additionalAuthenticatedData")
    nonce, number = os.urandom(12), key.versions.index(version)
    sealed = bytes([number]) + nonce + version.material.encrypt(nonce, plaintext, extra)
    checked = {f"verified{name[0].upper()}{name[1:]}": True for name in body if name.endswith("Crc32c")}
    return {"ciphertext": _text(sealed), "ciphertextCrc32c": _crc(sealed), **checked}


def _decrypt(key: CryptoKey, body: dict[str, Any]) -> Reply:
    sealed = _bytes(body, "ciphertext")
    try:
        version = key.versions[sealed[0]]
        if version.state != "ENABLED":
            return _unusable(key, version)
        extra = _bytes(body, "additionalAuthenticatedData")
        plaintext = version.material.decrypt(sealed[1:13], sealed[13:], extra)
    except (IndexError, InvalidTag):
        return error(400, "Decryption failed: the ciphertext is invalid.", "INVALID_ARGUMENT")
    return json_reply({"plaintext": _text(plaintext), "plaintextCrc32c": _crc(plaintext)})


def _sign(key: CryptoKey, version: Version, body: dict[str, Any]) -> dict[str, Any]:
    if version.algorithm == "EC_SIGN_ED25519":
        signature = version.material.sign(_bytes(body, "data"))
    else:
        digest = base64.b64decode(body["digest"]["sha256"])
        signature = version.material.sign(digest, ec.ECDSA(Prehashed(hashes.SHA256())))
    checked = {f"verified{name[0].upper()}{name[1:]}": True for name in body if name.endswith("Crc32c")}
    return {"signature": _text(signature), "signatureCrc32c": _crc(signature), **checked}


def _public_key(key: CryptoKey, version: Version, body: dict[str, Any]) -> dict[str, Any]:
    pem = version.material.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return {"pem": pem.decode(), "algorithm": version.algorithm, "pemCrc32c": _crc(pem)}


def _unusable(key: CryptoKey, version: Version) -> Reply:
    return error(
        400, f"{key.name_of(version)} is not enabled, current state is: {version.state}.", "FAILED_PRECONDITION"
    )


def _bytes(body: dict[str, Any], name: str) -> bytes:
    content = base64.b64decode(body.get(name, ""))
    checksum = body.get(f"{name}Crc32c")
    assert checksum is None or int(checksum) == google_crc32c.value(content)
    return content


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _crc(content: bytes) -> str:
    return str(google_crc32c.value(content))
