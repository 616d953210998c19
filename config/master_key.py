"""The deployment's master key, which wraps every other secret in the database.

It is 32 bytes: MASTER_KEY in base64, or else a file that is created once. This key and the database are all that a
machine needs. Without the key no record can be read. While `manage.py master_key_rotate` runs, MASTER_KEY_PREVIOUS or a
second file unwraps secrets that are still under the earlier key.
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
    """Return the master keys. The first wraps, the others only unwrap.

    Args:
        current, previous: base64 from the environment. Without `current` the files are used.
        folder: folder of the files. The first file is created if it is missing.

    Raises:
        ImproperlyConfigured: a key is not 32 bytes in base64.
        InsecureKeyFile, OSError: a file cannot be used.
    """
    if current:
        return [_decode(current, "MASTER_KEY"), *([_decode(previous, "MASTER_KEY_PREVIOUS")] if previous else [])]
    keys = [_decode(read_or_create(folder / _FILE, _new()).decode("ascii", "replace"), str(folder / _FILE))]
    if _has_previous_file(folder):
        keys.append(_decode(read(folder / _PREVIOUS_FILE).decode("ascii", "replace"), str(folder / _PREVIOUS_FILE)))
    return keys


def _has_previous_file(folder: Path) -> bool:
    """Whether there is a file with an earlier key. An interrupted `renew_file` leaves a copy of the current one."""
    previous = folder / _PREVIOUS_FILE
    return previous.exists() and read(previous) != read(folder / _FILE)


def renew_file(folder: Path) -> bool:
    """Replace the key file with a new key and save the earlier key in a second file, unless that exists already.

    The lock stops a second process from saving the new key as the earlier one, which would lose the earlier key.

    Returns:
        Whether a key was created.
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
    """Return the public id of a master key."""
    return hmac.digest(master, b"decision-record-service master key id", "sha256")[:16].hex()


def secret_key(master: bytes) -> str:
    """Return the default of Django's SECRET_KEY."""
    return hmac.digest(master, b"decision-record-service django secret key", "sha256").hex()


def _new() -> bytes:
    return base64.b64encode(os.urandom(BYTES))


def _decode(text: str, name: str) -> bytes:
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except ValueError:  # or binascii.Error, its subclass
        key = b""
    if len(key) != BYTES:
        raise ImproperlyConfigured(f"{name} must be 32 bytes in base64, as `openssl rand -base64 32` makes them.")
    return key
