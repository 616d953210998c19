"""Signing statements, and verifying them by the algorithm of the key that signed."""

import hashlib
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

ED25519 = "ed25519"


class Signer(Protocol):
    """A signing key, wherever its secret half lies."""

    algorithm: str
    key_id: str

    def sign(self, data: bytes) -> bytes:
        """A signature that `verifies` accepts under the public half."""


class Ed25519Signer:
    """A key of our own (RFC 8032)."""

    algorithm = ED25519

    def __init__(self, secret: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(secret)
        self.public_pem = public_pem(self._key.public_key())
        self.key_id = key_id(self._key.public_key())

    def sign(self, data: bytes) -> bytes:
        return self._key.sign(data)

    @staticmethod
    def new_secret() -> bytes:
        """32 bytes."""
        return Ed25519PrivateKey.generate().private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())


def key_id(public: PublicKeyTypes) -> str:
    """SHA-256 of the public key as DER, in hex."""
    return hashlib.sha256(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


def public_pem(public: PublicKeyTypes) -> str:
    return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def verifies(algorithm: str, pem: str, signature: bytes, data: bytes) -> bool:
    """Whether a signature over `data` was made with the key whose public half is `pem`.

    Args:
        algorithm: of the key; an unknown one verifies nothing.
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


_VERIFY: dict[str, Callable[[PublicKeyTypes, bytes, bytes], bool]] = {ED25519: _verify_ed25519}


@lru_cache(maxsize=1024)
def _public(pem: str) -> PublicKeyTypes:
    return serialization.load_pem_public_key(pem.encode())
