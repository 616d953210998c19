"""Salted commitments: a record holds them in place of texts that stay with the customer.

A commitment is SHA-256(salt ‖ text), with 32 random bytes of salt of its own. Whoever has text and salt can show that
this was the text; without the salt, which only the sealed record and the customer hold, no guess can be tested.
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
    """Whether `text` is the one that was committed to."""
    return hmac.compare_digest(_digest(base64.b64decode(commitment["salt"]), text), commitment["commitment"])


def _digest(salt: bytes, text: str) -> str:
    return hashlib.sha256(salt + text.encode()).hexdigest()
