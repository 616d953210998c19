"""Azure Key Vault, over its JSON API."""

import base64
import hashlib
import os
import uuid
from collections.abc import Mapping
from typing import Any

from azure.core.exceptions import AzureError
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicNumbers
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from custody.clouds.azure import configuration as azure
from custody.clouds.keys import (
    SECRET_BYTES,
    KmsUnavailable,
    NotWrappedByIt,
    PublicKey,
    Wrapped,
    answered,
    calling,
    connections,
    octets,
    text,
)

_COORDINATE = 32  # bytes of r, s, x and y on P-256


class Configuration(azure.Configuration):
    """Configuration of keys: the settings of storage may be missing."""

    account: str = ""
    container: str = ""


class Service:
    def __init__(self, configuration: Configuration, organization_id: uuid.UUID) -> None:
        self._configuration = configuration
        net, key = connections(), configuration.kms_key or configuration.signing_key
        with calling("signing in", AzureError):
            application = azure.application(configuration, net, organization_id=organization_id)
            self._session = azure.key_session(net, application, key)

    def new_secret(self) -> tuple[bytes, Wrapped]:
        secret = os.urandom(SECRET_BYTES)
        answer = self._call("wrapKey", self._configuration.kms_key, {"alg": "RSA-OAEP-256", "value": _encoded(secret)})
        return secret, Wrapped(*_key_and_version(text(answer, "kid")), octets(answer, "value"))

    def unwrap(self, wrapped: Wrapped) -> bytes:
        key, _ = _key_and_version(self._configuration.kms_key)
        if not (wrapped.version.isalnum() and wrapped.key == key):  # both become part of an address
            raise NotWrappedByIt("it names another key")
        sent = {"alg": "RSA-OAEP-256", "value": _encoded(wrapped.blob)}
        answer = self._call("unwrapKey", f"{key}/{wrapped.version}", sent, damaged="BadParameter")
        return octets(answer, "value")

    def public_key(self) -> PublicKey:
        with calling("keys/get", AzureError):
            key = answered("keys/get", self._session.get(azure.key_url(self._configuration.signing_key)))["key"]
            kind = key.get("kty"), key.get("crv")
        if kind not in (("EC", "P-256"), ("EC-HSM", "P-256")):
            raise ValueError("The key is not of the type EC on P-256")
        x, y = (int.from_bytes(octets(key, name)) for name in "xy")
        return PublicKey(text(key, "kid"), EllipticCurvePublicNumbers(x, y, SECP256R1()).public_key())

    def sign(self, data: bytes, algorithm: str) -> bytes:
        """Sign a digest. Key Vault answers r ‖ s; verifiers of DSSE expect DER."""
        sent = {"alg": "ES256", "value": _encoded(hashlib.sha256(data).digest())}
        raw = octets(self._call("sign", self._configuration.signing_key, sent), "value")
        if len(raw) != 2 * _COORDINATE:
            raise KmsUnavailable("keys/sign: the answer is no signature")
        return encode_dss_signature(int.from_bytes(raw[:_COORDINATE]), int.from_bytes(raw[_COORDINATE:]))

    def _call(self, verb: str, key: str, sent: Mapping[str, str], *, damaged: str = "") -> dict[str, Any]:
        call = f"keys/{verb}"
        with calling(call, AzureError):
            return answered(call, self._session.post(azure.key_url(key, verb.lower()), json=sent), damaged=damaged)


def _encoded(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def _key_and_version(kid: str) -> tuple[str, str]:
    base, _, name_and_version = kid.partition("/keys/")
    name, _, version = name_and_version.partition("/")
    return f"{base}/keys/{name}", version
