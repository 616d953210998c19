"""Signers of statements, and verification by the algorithm of the signing key."""

import hashlib
import hmac
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

ED25519 = "ed25519"
ECDSA_P256 = "ecdsa-p256-sha256"
"""ECDSA on P-256 over SHA-256 (FIPS 186-5) with DER signatures, for key management services without Ed25519."""
HMAC_SHA256 = "hmac-sha256"


class Signer(Protocol):
    """A signing key. Its secret half may be here or in a key management service."""

    algorithm: str
    key_id: str

    def sign(self, data: bytes) -> bytes:
        """Return a signature that `verifies` accepts under the public half."""


class Ed25519Signer:
    """A local key (RFC 8032)."""

    algorithm = ED25519

    def __init__(self, secret: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(secret)
        self.public_pem = public_pem(self._key.public_key())
        self.key_id = key_id(self._key.public_key())

    def sign(self, data: bytes) -> bytes:
        return self._key.sign(data)

    @staticmethod
    def new_secret() -> bytes:
        """Return 32 bytes."""
        return Ed25519PrivateKey.generate().private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())


class QueueSigner:
    """Provisional signature of a queued statement, until a key management service has signed it.

    It shows that this service has queued the statement, so that write access to the database is not enough to have
    something signed. Its secret comes from the index key, which never leaves this service, so it proves nothing to
    others.
    """

    algorithm = HMAC_SHA256

    def __init__(self, index_key: bytes, key_id: str) -> None:
        self._secret = hmac.digest(index_key, b"\x00queued statements", "sha256")  # no identity has this spelling
        self.key_id = key_id

    def sign(self, data: bytes) -> bytes:
        return hmac.digest(self._secret, data, "sha256")

    def recognises(self, signature: bytes, data: bytes) -> bool:
        return hmac.compare_digest(self.sign(data), signature)


def algorithm_of(public: PublicKeyTypes) -> str:
    """Return the algorithm of a key. Raises ValueError: it can sign nothing here."""
    if isinstance(public, Ed25519PublicKey):
        return ED25519
    if isinstance(public, EllipticCurvePublicKey) and isinstance(public.curve, SECP256R1):
        return ECDSA_P256
    raise ValueError("The key can sign neither with Ed25519 nor with ECDSA on P-256")


def key_id(public: PublicKeyTypes) -> str:
    """Return the SHA-256 of the public key as DER, in hex."""
    return hashlib.sha256(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


def public_pem(public: PublicKeyTypes) -> str:
    return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def verifies(algorithm: str, pem: str, signature: bytes, data: bytes) -> bool:
    """Whether a signature over `data` was made with the key whose public half is `pem`.

    Args:
        algorithm: the key's algorithm; an unknown one verifies nothing.
    """
    verify = _VERIFY.get(algorithm)
    try:
        return verify is not None and verify(_public(pem), signature, data)
    except InvalidSignature:
        return False


def _verify_ed25519(public: PublicKeyTypes, signature: bytes, data: bytes) -> bool:
    if not isinstance(public, Ed25519PublicKey):
        return False
    public.verify(signature, data)
    return True


def _verify_ecdsa_p256(public: PublicKeyTypes, signature: bytes, data: bytes) -> bool:
    if not isinstance(public, EllipticCurvePublicKey):
        return False
    public.verify(signature, data, ECDSA(hashes.SHA256()))
    return True


_VERIFY: dict[str, Callable[[PublicKeyTypes, bytes, bytes], bool]] = {
    ED25519: _verify_ed25519,
    ECDSA_P256: _verify_ecdsa_p256,
}


@lru_cache(maxsize=1024)
def _public(pem: str) -> PublicKeyTypes:
    return serialization.load_pem_public_key(pem.encode())
