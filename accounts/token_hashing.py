"""Keyed digests of secrets that we hand out and must recognise again: key secrets, codes, invitation links.

Only the digest is stored. Its key is made from a pepper that lies in the database wrapped under the master key, so a
stolen database alone lets nobody test a guess.
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
"""No secret's digest. Comparing with it takes as long as comparing with a real one."""

_BYTES = 32
_peppers: list[bytes] = []


class PepperMissing(Fault):
    """There are digests, but not the pepper they were made with, as before `manage.py keys_import` has run."""

    code: ClassVar = "pepper_missing"
    status: ClassVar = 503
    sentence = "The service's keys are not in the database yet. An administrator must run manage.py keys_import."


def digest(purpose: str, secret: str) -> str:
    """HMAC-SHA-256 of a secret in hex, under a key for this purpose alone. Raises PepperMissing, MasterKeyWrong."""
    return _digest(peppers()[0], purpose, secret)


def matches(purpose: str, secret: str, expected: str) -> bool:
    """Compare in constant time, under the current and the earlier peppers. Raises as `digest`."""
    return any([hmac.compare_digest(each, expected) for each in possible(purpose, secret)])  # noqa: C419 - all are


def possible(purpose: str, secret: str) -> list[str]:
    """What may have been stored of a secret: under the current pepper and the earlier ones. Raises as `digest`."""
    return [_digest(each, purpose, secret) for each in peppers()]


def peppers() -> list[bytes]:
    """The peppers, the newest first; one is made where nothing rests on any yet. Raises as `digest`."""
    if _peppers:
        return _peppers
    found = [row.unwrap() for row in Pepper.objects.order_by("-generation")] or [_make_first().unwrap()]
    if not db.in_transaction():
        _peppers[:] = found
    return found


def are_remembered() -> bool:
    """Whether this process has the peppers, so that `matches` reads nothing."""
    return bool(_peppers)


def forget() -> None:
    """Have this process read the peppers anew."""
    _peppers.clear()


def import_pepper(folder: Path) -> bool:
    """Take in the SECRET_KEYs that an earlier version made its digests with. Returns whether there was need.

    Args:
        folder: where the file `secret_key` lies, unless SECRET_KEY is set.

    Raises:
        PepperMissing: neither is there.
    """
    if Pepper.objects.exists() or not _anything_rests_on_one():
        return False
    file = folder / "secret_key"
    if settings.SECRET_KEY_IS_SET:
        current = settings.SECRET_KEY
    elif file.exists():
        current = read(file).decode()
    else:
        raise PepperMissing(f"the SECRET_KEY of before: set it, or put it into {file}")
    _store([*(each for each in reversed(settings.SECRET_KEY_FALLBACKS) if each != current), current])
    return True


def _make_first() -> Pepper:
    if _anything_rests_on_one():
        raise PepperMissing
    wrapped_secrets.probe()  # else it would be wrapped under a master key that opens nothing else
    _store([secrets.token_urlsafe(_BYTES)])
    return Pepper.objects.get(generation=1)


def _store(texts: Sequence[str]) -> None:
    rows = []
    for generation, text in enumerate(texts, start=1):
        rows.append(Pepper(generation=generation))
        rows[-1].wrap(text.encode())
    Pepper.objects.bulk_create(rows, ignore_conflicts=True)  # another process may be first


def _anything_rests_on_one() -> bool:
    keys = ApiKey.objects.unscoped("the peppers are those of all organizations")
    return keys.exists() or User.objects.exclude(totp_secret="").exists()


def _digest(pepper: bytes, purpose: str, secret: str) -> str:
    return hmac.digest(key(pepper, purpose), secret.encode(), "sha256").hex()


@cache
def key(pepper: bytes, purpose: str) -> bytes:
    """32 bytes for one purpose, from which no other purpose's key can be learned."""
    return hmac.digest(pepper, purpose.encode(), "sha256")
