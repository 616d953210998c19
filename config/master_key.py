"""The deployment's master key, under which every other secret in the database is wrapped.

It is 32 bytes: MASTER_KEY in base64, or else a file that is made once. A machine with this key and the database has all
it needs; without it nobody reads a record. MASTER_KEY_PREVIOUS, or a second file, opens what is still wrapped under an
earlier key while `manage.py master_key_rotate` is at work.
"""

import base64
import fcntl
import hmac
import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from config.secret_files import read, read_or_create, replace

BYTES = 32
_FILE, _PREVIOUS_FILE = "master_key", "master_key.previous"


def load(current: str, previous: str, folder: Path) -> list[bytes]:
    """The master keys; the first wraps, the others only unwrap.

    Args:
        current, previous: base64, as the environment gives them. Without `current` the files are used.
        folder: where the files lie; the first is made if it is not there.

    Raises:
        ImproperlyConfigured: one of them is not 32 bytes in base64.
        InsecureKeyFile, OSError: a file cannot be used.
    """
    if current:
        return [_decode(current, "MASTER_KEY"), *([_decode(previous, "MASTER_KEY_PREVIOUS")] if previous else [])]
    keys = [_decode(read_or_create(folder / _FILE, _new()).decode("ascii", "replace"), str(folder / _FILE))]
    if _has_previous_file(folder):
        keys.append(_decode(read(folder / _PREVIOUS_FILE).decode("ascii", "replace"), str(folder / _PREVIOUS_FILE)))
    return keys


def _has_previous_file(folder: Path) -> bool:
    """Whether an earlier key lies there; a copy of the present one is what an interrupted `renew_file` leaves."""
    previous = folder / _PREVIOUS_FILE
    return previous.exists() and read(previous) != read(folder / _FILE)


def renew_file(folder: Path) -> bool:
    """Make another master key in the file and keep the earlier one in a file beside it, unless one is kept there.

    One process at a time does so: a second would keep the new key as the earlier one, and lose that.

    Returns:
        Whether a key was made.
    """
    directory = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        if _has_previous_file(folder):
            return False
        replace(folder / _PREVIOUS_FILE, read(folder / _FILE))
        replace(folder / _FILE, _new())
        return True
    finally:
        os.close(directory)


def key_id(master: bytes) -> str:
    """What may be known of a master key."""
    return hmac.digest(master, b"decision-record-service master key id", "sha256")[:16].hex()


def secret_key(master: bytes) -> str:
    """Django's SECRET_KEY, where none is set."""
    return hmac.digest(master, b"decision-record-service django secret key", "sha256").hex()


def _new() -> bytes:
    return base64.b64encode(os.urandom(BYTES))


def _decode(text: str, name: str) -> bytes:
    try:
        found = base64.b64decode(text.strip(), validate=True)
    except ValueError:  # binascii.Error is one
        found = b""
    if len(found) != BYTES:
        raise ImproperlyConfigured(f"{name} must be 32 bytes in base64, as `openssl rand -base64 32` makes them.")
    return found
