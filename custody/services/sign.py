"""Signing of queued records by workers."""

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
"""No call begins later than this, so that other organizations need not wait long."""


def sign_queued(claimed: Sequence[WaitingObject], *, lease: timedelta) -> list[WaitingObject]:
    """Sign the queued records of a batch, each with its organization's active key, and reserve them.

    A record that the key management service does not sign is released; `keys.outages` says when to try again.

    Args:
        claimed: rows with their entries, under leases of the caller.
        lease: new lease of the signed records, from now.

    Returns:
        The rows that can be put into their vaults.
    """
    queued = [row for row in claimed if row.record.state == Entry.State.QUEUED]
    if not queued:
        return list(claimed)
    pairs = [(row, signer) for row in queued if (signer := _signer_of(row))]
    calls = _Calls(ends=time.monotonic() + _SECONDS)
    with ExitStack() as stack:  # one pool for each key: all threads of another pool may be waiting
        pools = {signer.key_id: stack.enter_context(ThreadPoolExecutor(_PARALLEL_CALLS)) for _, signer in pairs}
        signatures = [call.result() for call in [pools[pair[1].key_id].submit(calls.sign, pair) for pair in pairs]]
    calls.note_outages()
    results = list(zip(pairs, signatures, strict=True))
    _let_go([row for (row, _), signature in results if signature is None])
    signed = [row for (row, signer), signature in results if signature is not None and _add(row, signer, signature)]
    return [*(row for row in claimed if row not in queued), *_save_signed(signed, lease)]


@dataclass
class _Calls:
    """The calls for one batch, made by several threads. They use no database."""

    ends: float
    failed: dict[int, str] = field(default_factory=dict)
    """Keys that could not be used, with the reason. They are not called again in this batch."""
    used: set[int] = field(default_factory=set)

    def sign(self, pair: tuple[WaitingObject, Signer]) -> bytes | None:
        row, signer = pair
        message = envelope.pre_authentication_encoding(bytes(row.record.statement))
        if not isinstance(signer, KmsSigner):
            return signer.sign(message)
        if signer.key_pk in self.failed or time.monotonic() > self.ends:
            return None
        try:
            signature = signer.sign(message)
        except KmsUnavailable as error:
            self.failed[signer.key_pk] = error.reason
            return None
        except Exception as error:  # of this key: the other keys of the batch continue
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


def _signer_of(row: WaitingObject) -> Signer | None:
    """Return the key for a queued record, or None: the row is not what was queued here, or there are no keys."""
    try:
        statements.verified_row(row.record)
        return keyring(row.record.organization_id).signer
    except Fault as error:
        log.error("a queued record cannot be signed", record_id=str(row.pk), reason=str(error))
        return None


def _add(row: WaitingObject, signer: Signer, signature: bytes) -> bool:
    """Add a signature to the object and its row, in memory. Return whether the object and the row match."""
    record = row.record
    try:
        row.body = sealer.signed(
            bytes(row.body), statement=bytes(record.statement), signature=signature, key_id=signer.key_id
        )
    except Fault as error:
        log.error("a queued record cannot be signed", record_id=str(row.pk), reason=str(error))
        return False
    record.signature, record.key_id, record.state = signature, signer.key_id, Entry.State.RESERVED
    return True


def _save_signed(signed: Sequence[WaitingObject], lease: timedelta) -> list[WaitingObject]:
    """Save the signatures of rows whose lease is still ours. Return these rows."""
    if not signed:
        return []
    rows = WaitingObject.objects.unscoped("records of several organizations are signed together")
    entries = Entry.objects.unscoped("these are the entries of the same records")
    with transaction.atomic():
        held = leases.unchanged(signed).filter(record__state=Entry.State.QUEUED)
        mine = set(held.values_list("pk", flat=True))
        reserved = [row for row in signed if row.pk in mine]
        until = timezone.now() + lease
        for row in reserved:
            columns = {name: getattr(row.record, name) for name in ("signature", "key_id", "state")}
            entries.filter(pk=row.pk).update(**columns)
            rows.filter(pk=row.pk).update(body=row.body, lease_until=until)
    return reserved


def _let_go(rows: Sequence[WaitingObject]) -> None:
    """Release rows without counting a failure, so that all are due as soon as the service answers."""
    if rows:
        leases.unchanged(rows).update(lease_token=None, lease_until=None, attempts=0)
