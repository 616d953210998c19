"""Counters of guesses, in the database, so that a restart or a flood of other addresses resets none of them."""

import time
from datetime import UTC, datetime

from django.db.models import F
from django.utils import timezone

from accounts import token_hashing
from accounts.models import RateCounter

_PURPOSE = "accounts.RateCounter"


def take(who: str, limit: int, window: int) -> bool:
    """Count one try of `who`. Return False, without counting, if this window had `limit` tries.

    Args:
        who: the name of the counter: the person or address, and the thing they try.
        window: length in seconds. Windows begin on the clock, at the full minute or hour.
    """
    ends_at = datetime.fromtimestamp((int(time.time()) // window + 1) * window, UTC)
    counter, is_new = RateCounter.objects.get_or_create(pk=_key(who, window), defaults={"ends_at": ends_at})
    if is_new:
        RateCounter.objects.filter(ends_at__lte=timezone.now()).delete()
    # One statement, so that tries sent at once cannot outrun the limit.
    return bool(RateCounter.objects.filter(pk=counter.pk, count__lt=limit).update(count=F("count") + 1))


def give_back(who: str, window: int) -> None:
    """Take back one try of `who` that `take` counted."""
    RateCounter.objects.filter(pk=_key(who, window), count__gt=0).update(count=F("count") - 1)


def _key(who: str, window: int) -> str:
    return token_hashing.digest(_PURPOSE, f"{who}:{window}:{int(time.time()) // window}")
