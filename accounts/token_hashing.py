"""Keyed digests of secrets that we hand out and must recognise again: key secrets, codes, invitation links.

Only the digest is stored. Its key comes from a pepper, which the database holds wrapped under the master key. So a
stolen database alone is not enough to test a guess.
"""

import hmac
import secrets
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar

from django.conf import settings

from accounts.models import ApiKey, Pepper, User
from config import db, wrapped_secrets
from config.errors import Fault
from config.secret_files import read

ABSENT = "0" * 64
"""A digest that no secret has. A comparison with it takes as long as with a real one."""

_BYTES = 32
_peppers: list[bytes] = []


class PepperMissing(Fault):
    """Digests exist without their pepper, for example before `manage.py keys_import` has run."""

    code: ClassVar = "pepper_missing"
    status: ClassVar = 503
    sentence = "The service's keys are not in the database yet. An administrator must run manage.py keys_import."


def digest(purpose: str, secret: str) -> str:
    """Return a secret's HMAC-SHA-256 in hex, under the key of a purpose. Raises PepperMissing, MasterKeyWrong."""
    return _digest(peppers()[0], purpose, secret)


def matches(purpose: str, secret: str, expected: str) -> bool:
    """Compare in constant time, under the current and the earlier peppers. Raises as `digest`."""
    return any([hmac.compare_digest(value, expected) for value in possible(purpose, secret)])  # noqa: C419 - all are


def possible(purpose: str, secret: str) -> list[str]:
    """Return the digests a secret may be stored as, one for each pepper. Raises as `digest`."""
    return [_digest(pepper, purpose, secret) for pepper in peppers()]


def peppers() -> list[bytes]:
    """Return the peppers, newest first. Makes the first one while no digest exists. Raises as `digest`."""
    if _peppers:
        return _peppers
    unwrapped = [row.unwrap() for row in Pepper.objects.order_by("-generation")] or [_make_first().unwrap()]
    if not db.in_transaction():
        _peppers[:] = unwrapped
    return unwrapped


def are_remembered() -> bool:
    """Whether this process has the peppers, so that `matches` reads nothing."""
    return bool(_peppers)


def forget() -> None:
    """Make this process read the peppers again."""
    _peppers.clear()


def import_pepper(folder: Path) -> bool:
    """Import the SECRET_KEYs that an earlier version made its digests with. Return whether that was necessary.

    Args:
        folder: the folder of the file `secret_key`, read unless SECRET_KEY is set.

    Raises:
        PepperMissing: there is no file, and SECRET_KEY is not set.
    """
    if Pepper.objects.exists() or not _has_digests():
        return False
    file = folder / "secret_key"
    if settings.SECRET_KEY_IS_SET:
        current = settings.SECRET_KEY
    elif file.exists():
        current = read(file).decode()
    else:
        raise PepperMissing(f"the SECRET_KEY of before: set it, or put it into {file}")
    _store([*(key for key in reversed(settings.SECRET_KEY_FALLBACKS) if key != current), current])
    return True


def _make_first() -> Pepper:
    if _has_digests():
        raise PepperMissing
    wrapped_secrets.probe()  # refuses a master key that does not open the other secrets
    _store([secrets.token_urlsafe(_BYTES)])
    return Pepper.objects.get(generation=1)


def _store(texts: Sequence[str]) -> None:
    rows = []
    for generation, text in enumerate(texts, start=1):
        rows.append(Pepper(generation=generation))
        rows[-1].wrap(text.encode())
    Pepper.objects.bulk_create(rows, ignore_conflicts=True)  # another process may be first


def _has_digests() -> bool:
    keys = ApiKey.objects.unscoped("all organizations share the peppers")
    return keys.exists() or User.objects.exclude(totp_secret="").exists()


def _digest(pepper: bytes, purpose: str, secret: str) -> str:
    return hmac.digest(key(pepper, purpose), secret.encode(), "sha256").hex()


@cache
def key(pepper: bytes, purpose: str) -> bytes:
    """Derive 32 bytes for one purpose, which reveal no other purpose's key."""
    return hmac.digest(pepper, purpose.encode(), "sha256")
