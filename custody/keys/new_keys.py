"""Rows for keys in a key management service. A key is tested before its row is made."""

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
"""The setting that names the key of a purpose."""
_KEY_ID_DIGITS = 32


def prove(organization_id: uuid.UUID, purpose: Purpose, provider: str, config: Mapping[str, str]) -> Key:
    """Test a key, and return its unsaved row.

    A wrapping key's id is made from the service's name of the key, so that the same key has the same id, also in a
    database that has lost its row.

    Args:
        purpose: signing or wrapping.
        config: the configuration as it was typed.

    Raises:
        ConfigurationRefused
        KmsUnavailable
        ValueError: the key cannot be used for this purpose. The message says why.
    """
    make = _signing_key if purpose is Purpose.SIGNING else _wrapping_key
    return make(Key(organization_id=organization_id, purpose=purpose, provider=provider), config)


def _wrapping_key(row: Key, config: Mapping[str, str]) -> Key:
    typed = kms.checked(row.provider, config, SETTING[Purpose.WRAPPING])
    secret, wrapped = kms.service(row.provider, typed, row.organization_id).new_secret()
    # The name is stored, because an alias may point to another key later. A version that was named is kept.
    name = typed["kms_key"] if typed["kms_key"].startswith(wrapped.key) else wrapped.key
    row.configuration = typed | {"kms_key": name}
    if kms.service(row.provider, row.configuration, row.organization_id).unwrap(wrapped) != secret:
        raise ValueError("The key does not unwrap what it wrapped")
    row.key_id = hashlib.sha256(f"{row.provider} {wrapped.key}".encode()).hexdigest()[:_KEY_ID_DIGITS]
    row.algorithm = EPOCH_KEYS
    return row


def _signing_key(row: Key, config: Mapping[str, str]) -> Key:
    typed = kms.checked(row.provider, config, SETTING[Purpose.SIGNING])
    key = kms.service(row.provider, typed, row.organization_id).public_key()
    row.configuration = typed | {"signing_key": key.key}
    row.algorithm = signers.algorithm_of(key.public)
    row.public_pem, row.key_id = signers.public_pem(key.public), signers.key_id(key.public)
    KmsSigner(row).sign(os.urandom(32))
    return row
