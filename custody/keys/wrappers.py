"""Wrapping of data keys under a key-encryption key."""

import hmac
from typing import Protocol

from cryptography.hazmat.primitives.keywrap import aes_key_unwrap, aes_key_wrap

AES_KEY_WRAP = "aes-256-kw"


class KeyWrapper(Protocol):
    """A key-encryption key: a local one, or one in a key management service."""

    key_id: str

    def wrap(self, key: bytes) -> bytes: ...

    def unwrap(self, wrapped: bytes) -> bytes:
        """Unwrap a data key. Raises InvalidUnwrap, ValueError: this key did not wrap it."""


class AesKeyWrapper:
    """A local key (RFC 3394)."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self.key_id = secret_key_id(secret)

    def wrap(self, key: bytes) -> bytes:
        return aes_key_wrap(self._secret, key)

    def unwrap(self, wrapped: bytes) -> bytes:
        return aes_key_unwrap(self._secret, wrapped)


def secret_key_id(secret: bytes) -> str:
    """Return the public id of a secret key: 16 bytes in hex."""
    return hmac.digest(secret, b"decision-record-service key id", "sha256")[:16].hex()
