"""Salted commitments, which a record holds instead of texts that stay with the customer.

A commitment is SHA-256(salt ‖ text), with a new random salt of 32 bytes. Text and salt together prove what the text
was. Only the sealed record and the customer have the salt, and without it no guess can be tested.
"""

import base64
import hashlib
import hmac
import os
from collections.abc import Mapping

SALT_BYTES = 32

Commitment = dict[str, str]


def commit(text: str) -> Commitment:
    """Commit to a text. The salt is base64, the commitment hex."""
    salt = os.urandom(SALT_BYTES)
    return {
        "algorithm": "sha256",
        "salt": base64.b64encode(salt).decode(),
        "commitment": _digest(salt, text),
    }


def matches(commitment: Mapping[str, str], text: str) -> bool:
    """Whether `text` is the text of the commitment."""
    return hmac.compare_digest(_digest(base64.b64decode(commitment["salt"]), text), commitment["commitment"])


def _digest(salt: bytes, text: str) -> str:
    return hashlib.sha256(salt + text.encode()).hexdigest()
