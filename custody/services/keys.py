"""Changing an organization's keys, and taking in those that lay in files before."""

from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.db import transaction
from django.utils import timezone

from accounts import audit
from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config import db
from config.errors import DomainError
from config.secret_files import read
from custody import keys
from custody.keys import KeyMissing, Purpose
from custody.models import Key

ROTATABLE = (Purpose.SIGNING, Purpose.WRAPPING)
"""Not the index key: record ids rest on it, and an id that changed would let one decision have two records."""


class NeverRotated(DomainError):
    """Keys of this purpose are never replaced."""

    code = "never_rotated"
    sentence = "The index key is never replaced: record ids rest on it."


@requires(Permission.ROTATE_KEYS)
def rotate_key(*, caller: Caller, purpose: Purpose) -> Key:
    """Give the organization another key for new records. Old ones open and verify under theirs.

    Running processes follow within a second.

    Raises:
        NeverRotated
        KeyMissing, MasterKeyWrong: the present keys do not open.
    """
    if purpose not in ROTATABLE:
        raise NeverRotated
    organization_id = caller.organization_id
    keys.keyring(organization_id)
    with transaction.atomic():
        db.lock(f"custody keys of {organization_id}")  # a row lock would wait for a row that is retired by then
        active = Key.objects.for_organization(organization_id).get(purpose=purpose, retired_at=None)
        active.retired_at = timezone.now()
        active.save(update_fields=["retired_at"])
        made = keys.new_key(organization_id, purpose)
        made.save()
        audit.record(
            "custody_key.rotated",
            actor=caller.actor,
            organization_id=organization_id,
            object_kind="custody_key",
            object_id=made.key_id,
            purpose=purpose,
            retired=active.key_id,
        )
    keys.forget()
    return made


def import_key_file(row: Key, folder: Path) -> bool:
    """Wrap the secret that a file holds into its row. Returns whether the row had none.

    Args:
        folder: `DATA_DIR/keys`, with a folder for each organization.

    Raises:
        KeyMissing: the file is not there, or holds another key.
        InsecureKeyFile: others can read it.
    """
    suffix = "pem" if row.purpose == Purpose.SIGNING else "key"
    path = folder / row.organization_id.hex / f"{row.purpose}.{suffix}"
    try:
        content = read(path)
        secret = _raw(content) if row.purpose == Purpose.SIGNING else content
        found = keys.new_key(row.organization_id, Purpose(row.purpose), secret)
    except (OSError, ValueError) as error:
        raise KeyMissing(because=f"{path} holds no key") from error
    if found.key_id != row.key_id:
        raise KeyMissing(because=f"{path} is not the key with which this organization's records were made")
    rows = Key.objects.for_organization(row.organization_id).filter(pk=row.pk, wrapped_by="")
    return bool(rows.update(wrapped=found.wrapped, wrapped_by=found.wrapped_by))


def _raw(pem: bytes) -> bytes:
    key = serialization.load_pem_private_key(pem, password=None)
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("no Ed25519 key")
    return key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
