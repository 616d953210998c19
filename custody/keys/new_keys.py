"""Rows of keys that a key management service holds, each made after the key was used as it will be used."""

import hashlib
import os
import uuid
from collections.abc import Mapping

from custody import signers
from custody.keys import kms
from custody.keys.epoch_keys import EPOCH_KEYS
from custody.keys.kms import KmsSigner
from custody.models import Key

Purpose = Key.Purpose
SETTING = {Purpose.SIGNING: "signing_key", Purpose.WRAPPING: "kms_key"}
"""Which name of a configuration a purpose's key has."""
_KEY_ID_DIGITS = 32


def prove(organization_id: uuid.UUID, purpose: Purpose, provider: str, config: Mapping[str, str]) -> Key:
    """Use a key, and make its row, unsaved.

    A wrapping key's id comes from what its service calls it, so that the same key is the same one again, also in a
    database that has forgotten it.

    Args:
        purpose: signing or wrapping.
        config: as somebody typed it.

    Raises:
        ConfigurationRefused
        KmsUnavailable
        ValueError: it is no key of this purpose; says why.
    """
    make = _signing_key if purpose is Purpose.SIGNING else _wrapping_key
    return make(Key(organization_id=organization_id, purpose=purpose, provider=provider), config)


def _wrapping_key(row: Key, config: Mapping[str, str]) -> Key:
    typed = kms.checked(row.provider, config, SETTING[Purpose.WRAPPING])
    secret, wrapped = kms.service(row.provider, typed, row.organization_id).new_secret()
    # An alias may lead to another key one day; a version may have been named.
    name = typed["kms_key"] if typed["kms_key"].startswith(wrapped.key) else wrapped.key
    row.configuration = typed | {"kms_key": name}
    if kms.service(row.provider, row.configuration, row.organization_id).unwrap(wrapped) != secret:
        raise ValueError("The key unwraps something else than it wrapped")
    row.key_id = hashlib.sha256(f"{row.provider} {wrapped.key}".encode()).hexdigest()[:_KEY_ID_DIGITS]
    row.algorithm = EPOCH_KEYS
    return row


def _signing_key(row: Key, config: Mapping[str, str]) -> Key:
    typed = kms.checked(row.provider, config, SETTING[Purpose.SIGNING])
    found = kms.service(row.provider, typed, row.organization_id).public_key()
    row.configuration = typed | {"signing_key": found.key}
    row.algorithm = signers.algorithm_of(found.public)
    row.public_pem, row.key_id = signers.public_pem(found.public), signers.key_id(found.public)
    KmsSigner(row).sign(os.urandom(32))
    return row
