"""Outages of keys: since when a key cannot be used, and when to try again."""

from datetime import timedelta

from django.db.models import F, QuerySet
from django.utils import timezone

from config import retries
from custody.models import Key, KeyOutage

_FIRST_PAUSE = timedelta(seconds=5)
_MAX_PAUSE = timedelta(minutes=2)


def note(key_pk: int, reason: str) -> None:
    """Record that a key could not be used. The pause of the queue grows with each failure, up to two minutes."""
    now = timezone.now()
    outages = _of(key_pk)
    begun = {"since": now, "next_try_at": now + _FIRST_PAUSE, "reason": reason[:500]}
    outage, is_new = outages.get_or_create(key_id=key_pk, defaults=begun)
    if not is_new:
        pause = retries.pause(outage.failures + 1, _MAX_PAUSE, first=_FIRST_PAUSE)
        outages.update(failures=F("failures") + 1, next_try_at=now + pause, reason=reason[:500])


def over(key_pk: int) -> None:
    """Record that a key can be used again."""
    _of(key_pk).delete()


def forget(made: Key) -> None:
    """Delete the outages of a purpose after its key, or the key's configuration, was changed."""
    outages = KeyOutage.objects.for_organization(made.organization_id)
    outages.filter(key__purpose=made.purpose).delete()


def retry_now() -> None:
    """End all pauses."""
    _all().update(next_try_at=timezone.now())


def paused_signing() -> QuerySet[KeyOutage]:
    """Return the outages of active signing keys that are paused now.

    A pause that ends later than the longest possible one was set by a clock that is ahead, and counts as over.
    """
    now = timezone.now()
    active = _all().filter(key__purpose=Key.Purpose.SIGNING, key__retired_at=None)
    return active.filter(next_try_at__gt=now, next_try_at__lte=now + _MAX_PAUSE)


def _of(key_pk: int) -> QuerySet[KeyOutage]:
    return _all().filter(key=key_pk)


def _all() -> QuerySet[KeyOutage]:
    return KeyOutage.objects.unscoped("the caller knows the owner of the key")
