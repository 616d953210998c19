"""References to secrets that an administrator manages. Secrets are resolved when used, never stored or logged.

A reference could read anything that the service can read, so only two places are allowed, both for this purpose:

    env:DRS_SECRET_NAME    an environment variable with that prefix
    file:NAME              a file in the folder SECRETS_DIR: no path, no link

Every organization of an installation can use these. A folder of SECRETS_DIR named by an organization's id is for that
organization only, and its files take precedence over others of the same name.
"""

import os
import re
import stat
import uuid
from pathlib import Path
from typing import ClassVar

from django.conf import settings

from config.errors import DomainError

_REFERENCE = r"(env:DRS_SECRET_[A-Z0-9_]{1,100}|file:[A-Za-z0-9][A-Za-z0-9._-]{0,127})"
PATTERN = f"^{_REFERENCE}?$"
"""Pattern of a reference or an empty text, for documentation. `require_allowed` decides."""
_MAX_BYTES = 2**16


class ReferenceRefused(DomainError):
    """The reference points outside the allowed places."""

    code: ClassVar = "secret_reference_refused"
    status: ClassVar = 422
    sentence = "Name a secret as env:DRS_SECRET_… (an environment variable) or file:NAME (a file in SECRETS_DIR)."


class SecretUnavailable(DomainError):
    """The reference is valid, but has no usable secret."""

    code: ClassVar = "secret_unavailable"
    status: ClassVar = 503
    sentence = "There is no usable secret behind this reference. An administrator must put it there."


def require_allowed(reference: str) -> None:
    """Raise ReferenceRefused for a reference outside the allowed places, without reading it."""
    if not re.fullmatch(_REFERENCE, reference):
        raise ReferenceRefused


def resolve(reference: str, organization_id: uuid.UUID) -> str:
    """Return the current secret behind an organization's reference, without a file's last line end.

    Raises:
        ReferenceRefused
        SecretUnavailable: the secret is absent, empty, larger than 64 KiB, not UTF-8, or not a regular file.
    """
    require_allowed(reference)
    place, _, name = reference.partition(":")
    if place == "env":
        secret = os.environ.get(name, "")
    else:
        own = settings.SECRETS_DIR / str(organization_id)
        secret = _read(own if _is_there(own / name) else settings.SECRETS_DIR, name)
    if not secret:
        raise SecretUnavailable
    return secret


def _is_there(path: Path) -> bool:
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    except OSError:  # do not fall back to the shared file if the organization's own is inaccessible
        raise SecretUnavailable from None
    return True


def _read(folder: Path, name: str) -> str:
    try:
        # O_NONBLOCK: without it, opening a pipe would wait for its writer.
        descriptor = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise SecretUnavailable(because="not a regular file")
            content = file.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise SecretUnavailable(because="larger than 64 KiB")
        return content.decode().removesuffix("\n").removesuffix("\r")
    except (OSError, UnicodeDecodeError):
        raise SecretUnavailable from None
