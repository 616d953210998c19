"""Rotation of an organization's keys, and import of keys from files of earlier versions."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.db import transaction
from django.db.models import Min
from django.utils import timezone

from accounts import audit
from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config import db, wrapped_secrets
from config.errors import DomainError
from config.secret_files import read
from custody.keys import keyrings, new_keys, outages
from custody.keys.keyrings import KeyMissing, Purpose
from custody.keys.kms import KmsRefused, KmsUnavailable
from custody.models import Entry, Key

ROTATABLE = (Purpose.SIGNING, Purpose.WRAPPING)
"""The index key is missing here: with another one, the same decision would get a second record id."""


class NeverRotated(DomainError):
    """Keys of this purpose are never replaced."""

    code = "never_rotated"
    sentence = "The index key is never replaced: record ids rest on it."


class KeyNotProven(DomainError):
    """The key management service does not let us use the key. Nothing was changed."""

    code = "key_not_proven"
    status = 422


@requires(Permission.ROTATE_KEYS)
def rotate_key(
    *,
    caller: Caller,
    purpose: Purpose,
    provider: str = Key.Provider.LOCAL,
    config: Mapping[str, str] | None = None,
) -> Key:
    """Give the organization another key for new records. Earlier records stay readable under their own keys.

    Running processes follow within a second. Queued records are signed with the new key.

    Args:
        provider: holder of the key: this service, which generates one, or a key management service, whose key is used
            once as a test. A key that was in use before becomes active again.
        config: a configuration of `custody.clouds`, with `kms_key` or `signing_key`.

    Raises:
        NeverRotated, ConfigurationRefused, KeyNotProven
        KeyMissing, MasterKeyWrong: the present keys do not open.
    """
    if purpose not in ROTATABLE:
        raise NeverRotated
    organization_id = caller.organization_id
    keyrings.keyring(organization_id)
    wrapped_secrets.require_master_key()  # the cached keyring may be older than a rotation of the master key
    if provider == Key.Provider.LOCAL:
        made = keyrings.new_key(organization_id, purpose)
    else:
        made = _proven(organization_id, purpose, Key.Provider(provider), config or {})
    take_up_keys(caller=caller, made=[made])
    return made


@requires(Permission.ROTATE_KEYS)
def prove_keys(*, caller: Caller, provider: str, config: Mapping[str, str]) -> list[Key]:
    """Test the keys of a configuration that are not in use, and return them as unsaved rows.

    Raises:
        ConfigurationRefused, KeyNotProven
        KeyMissing, MasterKeyWrong: the present keys do not open.
    """
    keyrings.keyring(caller.organization_id)
    named = [purpose for purpose in ROTATABLE if config.get(new_keys.SETTING[purpose])]
    keys = [_proven(caller.organization_id, purpose, Key.Provider(provider), config) for purpose in named]
    active = Key.objects.for_organization(caller.organization_id).filter(retired_at=None)
    in_use = [(key.key_id, key.configuration) for key in active]
    return [key for key in keys if (key.key_id, key.configuration) not in in_use]


@requires(Permission.ROTATE_KEYS)
def take_up_keys(*, caller: Caller, made: Sequence[Key]) -> None:
    """Make these keys the active ones for new records."""
    with transaction.atomic():
        db.lock(f"custody keys of {caller.organization_id}")  # a row lock would wait for a row that is then retired
        for key in made:
            audit.record(
                "custody_key.rotated",
                actor=caller.actor,
                organization_id=caller.organization_id,
                object_kind="custody_key",
                object_id=key.key_id,
                purpose=key.purpose,
                provider=key.provider,
                retired=_replace_active(key),
            )
    keyrings.forget()


def _replace_active(made: Key) -> str:
    """Make a key the active one of its purpose, also where only its configuration changed. Returns the retired id.

    The caller holds the lock.
    """
    own = Key.objects.for_organization(made.organization_id).filter(purpose=made.purpose)
    active = own.get(retired_at=None)
    own.filter(retired_at=None).update(retired_at=timezone.now())
    known = db.only(own.filter(key_id=made.key_id))
    if known:
        made.pk, made.created_at, made.valid_from = known.pk, known.created_at, known.valid_from
    if made.purpose == Purpose.SIGNING:
        made.valid_from = _oldest_to_sign(made)
    made.save()
    outages.forget(made)
    return active.key_id


def _oldest_to_sign(made: Key) -> datetime | None:
    """Return when the oldest record that the key signs was received: a queued one, or one of its earlier use."""
    entries = Entry.objects.for_organization(made.organization_id)
    queued = entries.filter(state=Entry.State.QUEUED).aggregate(oldest=Min("received_at"))["oldest"]
    return min(filter(None, (queued, made.valid_from)), default=None)


def _proven(organization_id: uuid.UUID, purpose: Purpose, provider: Key.Provider, config: Mapping[str, str]) -> Key:
    """Test a key, and return it as an unsaved row.

    Raises:
        ConfigurationRefused, KeyNotProven
    """
    try:
        return new_keys.prove(organization_id, purpose, provider, config)
    except KmsRefused as error:
        raise KeyNotProven(
            f"{error.reason}. Check that the key is enabled and made for this, and that the credentials may use it. "
            "Nothing was changed."
        ) from error
    except KmsUnavailable as error:
        raise KeyNotProven(f"{error.reason.rstrip('.')}. Nothing was changed; try again.") from error
    except ValueError as error:
        raise KeyNotProven(f"{error}. Nothing was changed.") from error


def import_key_file(row: Key, folder: Path) -> bool:
    """Wrap the secret of a key file into its row. Returns whether the row had no secret.

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
        key = keyrings.new_key(row.organization_id, Purpose(row.purpose), secret)
    except (OSError, ValueError) as error:
        raise KeyMissing(because=f"{path} holds no key") from error
    if key.key_id != row.key_id:
        raise KeyMissing(because=f"{path} is not the key with which this organization's records were made")
    rows = Key.objects.for_organization(row.organization_id).filter(pk=row.pk, wrapped_by="")
    return bool(rows.update(wrapped=key.wrapped, wrapped_by=key.wrapped_by))


def _raw(pem: bytes) -> bytes:
    key = serialization.load_pem_private_key(pem, password=None)
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError("no Ed25519 key")
    return key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
