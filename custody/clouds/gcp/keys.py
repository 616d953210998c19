"""Google Cloud KMS, over its JSON API. Each value travels with its CRC-32C, in both directions."""

import base64
import hashlib
import os
import uuid
from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives.serialization import load_pem_public_key
from google.auth.exceptions import GoogleAuthError
from google_crc32c import value as crc32c

from custody.clouds.gcp import configuration as gcp
from custody.clouds.keys import (
    SECRET_BYTES,
    KmsUnavailable,
    PublicKey,
    Wrapped,
    answered,
    calling,
    connections,
    octets,
    text,
)
from custody.signers import ED25519


class Configuration(gcp.Configuration):
    """Configuration of keys: the settings of storage may be missing."""

    bucket: str = ""


class Service:
    def __init__(self, configuration: Configuration, organization_id: uuid.UUID) -> None:
        self._configuration = configuration
        self._context = organization_id.bytes
        with calling("signing in", GoogleAuthError):
            key = gcp.service_account_key(configuration, organization_id=organization_id)
            self._session = gcp.session(connections(), key)

    def new_secret(self) -> tuple[bytes, Wrapped]:
        secret, key = os.urandom(SECRET_BYTES), self._configuration.kms_key
        sent = {"plaintext": secret, "additionalAuthenticatedData": self._context}
        answer = self._call("cloudkms.cryptoKeyVersions.useToEncrypt", f"{key}:encrypt", sent)
        _require(answer, "verifiedPlaintextCrc32c", "verifiedAdditionalAuthenticatedDataCrc32c")
        return secret, Wrapped(key, "", _checked(answer, "ciphertext"))

    def unwrap(self, wrapped: Wrapped) -> bytes:
        sent = {"ciphertext": wrapped.blob, "additionalAuthenticatedData": self._context}
        call, url = "cloudkms.cryptoKeyVersions.useToDecrypt", f"{self._configuration.kms_key}:decrypt"
        return _checked(self._call(call, url, sent, damaged="INVALID_ARGUMENT"), "plaintext")

    def public_key(self) -> PublicKey:
        version, call = self._configuration.signing_key, "cloudkms.cryptoKeyVersions.viewPublicKey"
        with calling(call, GoogleAuthError):
            answer = answered(call, self._session.get(gcp.kms_url(self._configuration, f"{version}/publicKey")))
        pem = text(answer, "pem").encode()
        _compare(answer, "pemCrc32c", pem)
        return PublicKey(version, load_pem_public_key(pem))

    def sign(self, data: bytes, algorithm: str) -> bytes:
        name, what = ("data", data) if algorithm == ED25519 else ("digest", hashlib.sha256(data).digest())
        url = f"{self._configuration.signing_key}:asymmetricSign"
        answer = self._call("cloudkms.cryptoKeyVersions.useToSign", url, {name: what})
        _require(answer, f"verified{name.capitalize()}Crc32c")
        return _checked(answer, "signature")

    def _call(self, call: str, resource: str, sent: Mapping[str, bytes], *, damaged: str = "") -> Any:
        body: dict[str, Any] = {}
        for name, value in sent.items():
            encoded = base64.b64encode(value).decode()
            body |= {name: {"sha256": encoded} if name == "digest" else encoded, f"{name}Crc32c": str(crc32c(value))}
        with calling(call, GoogleAuthError):
            answer = self._session.post(gcp.kms_url(self._configuration, resource), json=body)
            return answered(call, answer, damaged=damaged)


def _require(answer: Mapping[str, Any], *verified: str) -> None:
    """Check that the service received what was sent. Raises KmsUnavailable."""
    for name in verified:
        if answer.get(name) is not True:
            raise KmsUnavailable(f"{name} is not true: what was sent came through damaged")


def _checked(answer: Mapping[str, Any], name: str) -> bytes:
    value = octets(answer, name)
    _compare(answer, f"{name}Crc32c", value)
    return value


def _compare(answer: Mapping[str, Any], name: str, value: bytes) -> None:
    if str(answer.get(name)) != str(crc32c(value)):
        raise KmsUnavailable(f"{name} has another value: the answer came through damaged")
