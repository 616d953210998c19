"""Seals of the audit trail: digests of past events, so that `custody_fsck` notices what was changed or removed.

The database refuses both. Seals name what an administrator of the database, or a damaged disk, has done all the same.
A keyed head counts the seals, so that removed seals are noticed too.
"""

import hashlib
import struct
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from accounts import token_hashing
from accounts.models import AuditEvent, AuditSeal, AuditSealHead
from config import db
from config.errors import Fault
from config.http import strict_json
from config.http.timestamps import rfc3339

MAX_EVENTS = 2000
"""In a seal, whose events are read together."""
AGE = timedelta(hours=1)
"""Age of events that are sealed. No older transaction can still add an event among them."""
_PURPOSE = "accounts.audit_seal"
_HEAD_PURPOSE = "accounts.audit_seal_head"
_ENTRY = struct.Struct(">Q16s")
_BECAUSE = "the audit trail is sealed as a whole"


class SealsDisagree(Fault):
    """The head of the audit trail's seals does not match the newest seal, so no seal can follow."""

    code = "audit_seals_disagree"
    sentence = "Seals of the audit trail were removed or changed. An administrator must restore them from a backup."


Problem = tuple[str, str]
"""An event's id, and what is wrong with it."""


def seal_events(*, until: datetime | None = None) -> int:
    """Seal the events that no seal covers yet. Returns how many.

    Args:
        until: seal those from before this moment; by default from an hour ago.

    Raises:
        SealsDisagree: seals were removed. Nothing is sealed until a backup brings them back.
    """
    until, count = until or timezone.now() - AGE, 0
    while sealed := _seal_next(until):
        count += sealed
    return count


def _seal_next(until: datetime) -> int:
    with transaction.atomic():
        db.lock("audit seals")
        before = AuditSeal.objects.order_by("-last").first()
        head = AuditSealHead.objects.first()
        if problem := _head_problem(head, before):
            raise SealsDisagree(problem)
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
        seal = AuditSeal(first=first, last=events[-1].pk, digests=digests, created_at=timezone.now())
        seal.mac = token_hashing.digest(_PURPOSE, _sealed_text(seal, before))
        seal.save(force_insert=True)
        _advance(head, seal)
    return len(events)


def _advance(head: AuditSealHead | None, seal: AuditSeal) -> None:
    """Count a new seal. Call it in the transaction that makes the seal."""
    advanced = AuditSealHead(last=seal.last, seals=head.seals + 1 if head else 1)
    advanced.mac = token_hashing.digest(_HEAD_PURPOSE, _head_text(advanced, seal))
    advanced.save(force_insert=head is None, force_update=head is not None)


def _head_problem(head: AuditSealHead | None, newest: AuditSeal | None) -> str:
    """Return how the head contradicts the newest seal, or ""."""
    if head is None:
        return "Their head was removed." if newest else ""
    if newest is None:
        return f"All {head.seals} seals were removed."
    if newest.last < head.last:
        return "The newest seals were removed."
    if newest.last > head.last or not token_hashing.matches(_HEAD_PURPOSE, _head_text(head, newest), head.mac):
        return "Their head or the newest seal was changed."
    return ""


def _head_text(head: AuditSealHead, newest: AuditSeal) -> str:
    return f"{head.last} {head.seals} {newest.mac}"


def sealed_since() -> datetime | None:
    """Return when the first seal was made. A trail that was sealed again from scratch shows its late date."""
    oldest = AuditSeal.objects.order_by("last").first()
    return oldest.created_at if oldest else None


def verified(after: int = 0) -> Iterator[tuple[int, list[Problem], int]]:
    """Compare sealed events with their seals, a seal at a time.

    Args:
        after: the last id of a seal: begin with the one after it.

    Yields:
        The last id of each seal, what is wrong, and how many events it covers. At the end what is wrong with the head.
    """
    before = AuditSeal.objects.filter(last__lte=after).order_by("-last").first()
    for seal in AuditSeal.objects.filter(last__gt=after).order_by("last").iterator(chunk_size=1):
        problems = list(_problems(seal, before))
        yield seal.last, problems, max(len(seal.digests) // _ENTRY.size, len(problems))
        before = seal
    newest, problem = _head_state()
    if problem:
        yield newest, [("seals", problem)], 1


def _head_state() -> tuple[int, str]:
    """Return the last id that a seal covers, and what is wrong with the head, or ""."""
    with transaction.atomic():
        db.lock("audit seals")
        newest, head = AuditSeal.objects.order_by("-last").first(), AuditSealHead.objects.first()
        problem = _head_problem(head, newest)
        if not problem and head and head.seals != AuditSeal.objects.count():
            problem = f"There are not {head.seals} seals any more."
    return newest.last if newest else 0, problem


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
    made_at = rfc3339(seal.created_at)
    return f"{before.mac if before else ''} {seal.first} {seal.last} {made_at} {bytes(seal.digests).hex()}"


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
