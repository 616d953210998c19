"""Keyed digests of secrets that we hand out and must recognise again: key secrets, codes, invitation links.

Only the digest is stored. Its key comes from SECRET_KEY, so a stolen database alone lets nobody test a guess.
"""

import hmac
from functools import cache

from django.conf import settings

ABSENT = "0" * 64
"""No secret's digest. Comparing with it takes as long as comparing with a real one."""


def digest(purpose: str, secret: str) -> str:
    """HMAC-SHA-256 of a secret in hex, under a key for this purpose alone."""
    return _digest(settings.SECRET_KEY, purpose, secret)


def matches(purpose: str, secret: str, expected: str) -> bool:
    """Compare in constant time, under the current and, while a rotation lasts, the earlier SECRET_KEYs."""
    return any([hmac.compare_digest(each, expected) for each in possible(purpose, secret)])  # noqa: C419 - all are


def possible(purpose: str, secret: str) -> list[str]:
    """What may have been stored of a secret: under the current SECRET_KEY and, while a rotation lasts, the earlier."""
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return [_digest(each, purpose, secret) for each in keys]


def _digest(secret_key: str, purpose: str, secret: str) -> str:
    return hmac.digest(key(secret_key, purpose), secret.encode(), "sha256").hex()


@cache
def key(secret_key: str, purpose: str) -> bytes:
    """32 bytes for one purpose, from which no other purpose's key can be learned."""
    return hmac.digest(secret_key.encode(), purpose.encode(), "sha256")
