"""Seals of the audit trail: digests of past events, so that `custody_fsck` notices what was changed or removed.

The database refuses both. Seals name what an administrator of the database, or a damaged disk, has done all the same.
"""

import hashlib
import struct
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from accounts import token_hashing
from accounts.models import AuditEvent, AuditSeal
from config import db
from config.http import strict_json
from config.http.timestamps import rfc3339

MAX_EVENTS = 2000
"""In a seal, whose events are read together."""
AGE = timedelta(hours=1)
"""Age of events that are sealed. No older transaction can still add an event among them."""
_PURPOSE = "accounts.audit_seal"
_ENTRY = struct.Struct(">Q16s")
_BECAUSE = "the audit trail is sealed as a whole"

Problem = tuple[str, str]
"""An event's id, and what is wrong with it."""


def seal_events(*, until: datetime | None = None) -> int:
    """Seal the events that no seal covers yet. Returns how many.

    Args:
        until: seal those from before this moment; by default from an hour ago.
    """
    until, count = until or timezone.now() - AGE, 0
    while sealed := _seal_next(until):
        count += sealed
    return count


def _seal_next(until: datetime) -> int:
    with transaction.atomic():
        db.lock("audit seals")
        before = AuditSeal.objects.order_by("-last").first()
        first = before.last + 1 if before else 1
        rows = AuditEvent.objects.unscoped(_BECAUSE).filter(pk__gte=first).order_by("pk")
        events = []
        for event in rows[:MAX_EVENTS]:
            if event.at >= until:
                break
            events.append(event)
        if not events:
            return 0
        digests = b"".join(_ENTRY.pack(event.pk, _digest(event)) for event in events)
        seal = AuditSeal(first=first, last=events[-1].pk, digests=digests)
        seal.mac = token_hashing.digest(_PURPOSE, _sealed_text(seal, before))
        seal.save(force_insert=True)
    return len(events)


def verified(after: int = 0) -> Iterator[tuple[int, list[Problem], int]]:
    """Compare sealed events with their seals, a seal at a time.

    Args:
        after: the last id of a seal: begin with the one after it.

    Yields:
        The last id of each seal, what is wrong, and how many events it covers.
    """
    before = AuditSeal.objects.filter(last__lte=after).order_by("-last").first()
    for seal in AuditSeal.objects.filter(last__gt=after).order_by("last").iterator(chunk_size=1):
        problems = list(_problems(seal, before))
        yield seal.last, problems, max(len(seal.digests) // _ENTRY.size, len(problems))
        before = seal


def _problems(seal: AuditSeal, before: AuditSeal | None) -> Iterator[Problem]:
    follows = seal.first == (before.last + 1 if before else 1)
    if not follows or not token_hashing.matches(_PURPOSE, _sealed_text(seal, before), seal.mac):
        yield f"{seal.first} to {seal.last}", "Their seal was changed, or the one before it."
        return
    expected: dict[int, bytes] = dict(_ENTRY.iter_unpack(bytes(seal.digests)))
    rows = AuditEvent.objects.unscoped(_BECAUSE).filter(pk__range=(seal.first, seal.last)).order_by("pk")
    present = {event.pk: _digest(event) for event in rows}
    yield from _compared(expected, present)


def _compared(expected: dict[int, bytes], present: dict[int, bytes]) -> Iterator[Problem]:
    for pk in sorted(expected.keys() | present.keys()):
        if pk not in present:
            yield str(pk), "It was removed."
        elif pk not in expected:
            yield str(pk), "It was added later."
        elif present[pk] != expected[pk]:
            yield str(pk), "It was changed."


def _sealed_text(seal: AuditSeal, before: AuditSeal | None) -> str:
    return f"{before.mac if before else ''} {seal.first} {seal.last} {bytes(seal.digests).hex()}"


def _digest(event: AuditEvent) -> bytes:
    columns: Sequence[object] = (
        event.pk,
        str(event.organization_id),
        rfc3339(event.at),
        event.verb,
        event.actor_kind,
        event.actor_id,
        event.actor_label,
        event.object_kind,
        event.object_id,
        event.detail,
    )
    return hashlib.sha256(strict_json.canonical(columns)).digest()[:16]
