"""An organization's keys: made on first use, kept in files of mode 0600, never overwritten.

DATA_DIR/keys/<organization>/signing.pem      Ed25519, PKCS 8
                             wrapping.key     the key-encryption key, 32 bytes
                             index.key        makes record ids from decision ids, 32 bytes
"""

import hashlib
import hmac
import secrets
import uuid
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from django.conf import settings
from django.db import transaction

from config.faults import Fault
from config.secret_files import read, read_or_create
from custody.models import Key

Purpose = Key.Purpose
ED25519 = "ed25519"
SECRET_BYTES = 32


class KeyMissing(Fault):
    """A key that signed or sealed records of this organization is not in DATA_DIR, or another one lies in its place."""

    status = 503
    sentence = "The organization's keys are not in place. An administrator must restore them from a backup."


@dataclass(frozen=True, slots=True)
class Keyring:
    """The secrets of one organization. `kek` wraps the data key of each record."""

    organization_id: uuid.UUID
    signer: Ed25519PrivateKey
    signing_key_id: str
    kek: bytes
    kek_id: str
    index_key: bytes


@cache
def keyring(organization_id: uuid.UUID) -> Keyring:
    """The organization's keys, loaded once a process and made if this is their first use.

    Raises:
        KeyMissing: the database knows a key whose file is gone or holds something else.
        InsecureKeyFile: a file can be read by others than its owner.
    """
    pem = _secret(organization_id, Purpose.SIGNING)
    signer = serialization.load_pem_private_key(pem, password=None)
    if not isinstance(signer, Ed25519PrivateKey):
        raise KeyMissing(f"{_path(organization_id, Purpose.SIGNING)} holds no Ed25519 key")
    kek = _secret(organization_id, Purpose.WRAPPING)
    return Keyring(
        organization_id=organization_id,
        signer=signer,
        signing_key_id=_public_key_id(signer.public_key()),
        kek=kek,
        kek_id=_secret_key_id(kek),
        index_key=_secret(organization_id, Purpose.INDEX),
    )


def probe() -> None:
    """Raises KeyMissing unless every registered key's file is there. Used by /readyz."""
    for organization_id, purpose in Key.objects.filter(retired_at=None).values_list("organization_id", "purpose"):
        if not _path(organization_id, Purpose(purpose)).exists():
            raise KeyMissing(f"{purpose} of organization {organization_id}")


def _secret(organization_id: uuid.UUID, purpose: Purpose) -> bytes:
    path = _path(organization_id, purpose)
    row = Key.objects.filter(organization_id=organization_id, purpose=purpose, retired_at=None).first()
    if row is None:
        content = read_or_create(path, _new_signing_key() if purpose is Purpose.SIGNING else _new_secret())
        row = _register(organization_id, purpose, content)
    elif not path.exists():
        raise KeyMissing(f"{path} is gone; restore it from a backup. A new key could not open or extend old records.")
    else:
        content = read(path)
    try:
        found = _describe(purpose, content).key_id
    except ValueError:  # no PEM at all
        found = ""
    if not hmac.compare_digest(row.key_id, found):
        raise KeyMissing(f"{path} is not the key with which this organization's records were made; restore that one")
    return content


def _register(organization_id: uuid.UUID, purpose: Purpose, content: bytes) -> Key:
    described = _describe(purpose, content)
    with transaction.atomic():
        row, _ = Key.objects.get_or_create(
            organization_id=organization_id,
            purpose=purpose,
            retired_at=None,
            defaults={
                "key_id": described.key_id,
                "algorithm": described.algorithm,
                "public_pem": described.public_pem,
            },
        )
    return row


def _describe(purpose: Purpose, content: bytes) -> Key:
    """What may be known of a secret, as an unsaved row."""
    if purpose is not Purpose.SIGNING:
        algorithm = "aes-256-kw" if purpose is Purpose.WRAPPING else "hmac-sha256"
        return Key(key_id=_secret_key_id(content), algorithm=algorithm)
    public = serialization.load_pem_private_key(content, password=None).public_key()
    pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return Key(key_id=_public_key_id(public), algorithm=ED25519, public_pem=pem.decode())


def _path(organization_id: uuid.UUID, purpose: Purpose) -> Path:
    suffix = "pem" if purpose is Purpose.SIGNING else "key"
    return settings.DATA_DIR / "keys" / organization_id.hex / f"{purpose}.{suffix}"


def _new_signing_key() -> bytes:
    return Ed25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _new_secret() -> bytes:
    return secrets.token_bytes(SECRET_BYTES)


def _public_key_id(public: PublicKeyTypes) -> str:
    der = public.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return hashlib.sha256(der).hexdigest()


def _secret_key_id(secret: bytes) -> str:
    return hmac.digest(secret, b"decision-record-service key id", "sha256")[:16].hex()
