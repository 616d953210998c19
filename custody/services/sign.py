"""Signing what is queued."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta

import structlog
from django.db import transaction
from django.utils import timezone

from config import leases
from config.errors import Fault
from custody.keys import outages
from custody.keys.keyrings import keyring
from custody.keys.kms import KmsSigner, KmsUnavailable
from custody.models import Entry, WaitingObject
from custody.sealing import envelope, sealer, statements
from custody.signers import Signer

log = structlog.get_logger("custody")

_PARALLEL_CALLS = 8
_SECONDS = 5
"""After so long no call begins any more, so that the batch ends soon for other organizations."""


def sign_queued(claimed: Sequence[WaitingObject], *, lease: timedelta) -> list[WaitingObject]:
    """Sign the queued records among some, each with the key that its organization uses now. They are reserved from then
    on.

    What a key management service does not sign is let go of, and `key_outages` says when to try again.

    Args:
        claimed: with their entries; the caller holds them.
        lease: for so long from now the caller holds what was signed.

    Returns:
        Those that can go into their vaults.
    """
    queued = [each for each in claimed if each.record.state == Entry.State.QUEUED]
    if not queued:
        return list(claimed)
    pairs = [(each, signer) for each in queued if (signer := _signer_of(each))]
    calls = _Calls(ends=time.monotonic() + _SECONDS)
    with ExitStack() as stack:  # each key has threads of its own, for another's may all wait
        pools = {signer.key_id: stack.enter_context(ThreadPoolExecutor(_PARALLEL_CALLS)) for _, signer in pairs}
        signatures = [each.result() for each in [pools[pair[1].key_id].submit(calls.sign, pair) for pair in pairs]]
    calls.note_outages()
    found = list(zip(pairs, signatures, strict=True))
    _let_go([each for (each, _), signature in found if signature is None])
    signed = [each for (each, signer), signature in found if signature is not None and _add(each, signer, signature)]
    return [*(each for each in claimed if each not in queued), *_keep(signed, lease)]


@dataclass
class _Calls:
    """The calls for one batch, which several threads make. They touch no database."""

    ends: float
    failed: dict[int, str] = field(default_factory=dict)
    """Keys that could not be used, and why. Nobody asks for them again in this batch."""
    used: set[int] = field(default_factory=set)

    def sign(self, pair: tuple[WaitingObject, Signer]) -> bytes | None:
        each, signer = pair
        message = envelope.pre_authentication_encoding(bytes(each.record.statement))
        if not isinstance(signer, KmsSigner):
            return signer.sign(message)
        if signer.key_pk in self.failed or time.monotonic() > self.ends:
            return None
        try:
            signature = signer.sign(message)
        except KmsUnavailable as error:
            self.failed[signer.key_pk] = error.reason
            return None
        except Exception as error:  # of this key alone: others in the batch go on
            log.error("a signing key cannot be asked for", key=signer.key_pk, exc_info=error)
            self.failed[signer.key_pk] = "This service failed when it asked; its log says why."
            return None
        self.used.add(signer.key_pk)
        return signature

    def note_outages(self) -> None:
        for key_pk, reason in self.failed.items():
            log.warning("a signing key cannot be used", key=key_pk, reason=reason)
            outages.note(key_pk, reason)
        for key_pk in self.used - self.failed.keys():
            outages.over(key_pk)


def _signer_of(each: WaitingObject) -> Signer | None:
    """None if it is not to be signed: it is not what was queued here, or its organization has no keys."""
    try:
        statements.verified_row(each.record)
        return keyring(each.record.organization_id).signer
    except Fault as error:
        log.error("a queued record cannot be signed", record_id=str(each.pk), reason=str(error))
        return None


def _add(each: WaitingObject, signer: Signer, signature: bytes) -> bool:
    """Add a signature to the object and its row, in memory. Returns whether they belong together."""
    record = each.record
    try:
        each.body = sealer.signed(
            bytes(each.body), statement=bytes(record.statement), signature=signature, key_id=signer.key_id
        )
    except Fault as error:
        log.error("a queued record cannot be signed", record_id=str(each.pk), reason=str(error))
        return False
    record.signature, record.key_id, record.state = signature, signer.key_id, Entry.State.RESERVED
    return True


def _keep(signed: Sequence[WaitingObject], lease: timedelta) -> list[WaitingObject]:
    """Write signatures down where the lease is as it was. Returns those that are reserved now."""
    if not signed:
        return []
    rows = WaitingObject.objects.unscoped("records of several organizations are signed together")
    entries = Entry.objects.unscoped("of the same records")
    with transaction.atomic():
        held = leases.unchanged(signed).filter(record__state=Entry.State.QUEUED)
        mine = set(held.values_list("pk", flat=True))
        kept = [each for each in signed if each.pk in mine]
        until = timezone.now() + lease
        for each in kept:
            said = {name: getattr(each.record, name) for name in ("signature", "key_id", "state")}
            entries.filter(pk=each.pk).update(**said)
            rows.filter(pk=each.pk).update(body=each.body, lease_until=until)
    return kept


def _let_go(rows: Sequence[WaitingObject]) -> None:
    """No fault of theirs: once the service answers, they are all due at once."""
    if rows:
        leases.unchanged(rows).update(lease_token=None, lease_until=None, attempts=0)
