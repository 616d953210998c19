"""Digests of the names of objects and files. The ledger recognizes names by them and does not store the names.

A name may identify a person, for example the file of one application.
"""

import uuid

from connectors.models import MAX_LEDGER_NAME
from connectors.texts import identifying
from custody.keys.keyrings import keyring
from custody.sealing import sealer

_CONTENT = "\0connector content:"
PREFIX = "hmac-sha256:"


def name_digest(organization_id: uuid.UUID, name: str) -> str:
    """Return the digest of a name under the organization's index key. Without the key, it confirms no guess."""
    identity = f"\0connector object:{identifying(name, MAX_LEDGER_NAME)}"
    return PREFIX + sealer.reference(keyring(organization_id), identity).hex()


def digest(organization_id: uuid.UUID, content: bytes) -> str:
    """Return a digest of content under the organization's index key: without the key, it confirms no guess."""
    return sealer.reference(keyring(organization_id), f"{_CONTENT}{content.hex()}").hex()
