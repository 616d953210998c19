"""New records: sealed in memory, and made into the rows that store them."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from django.utils import timezone

from custody import record_types, vaults
from custody.keys.keyrings import Keyring
from custody.models import Entry, SealedObject, WaitingObject, object_key
from custody.record_types import Indexing
from custody.rows.bulk_insert import NewRecord
from custody.sealing import sealer
from custody.sealing.sealer import Sealed
from custody.vaults import storage_targets

# Time for a request to finish its own record before the reconciler takes over.
LEASE = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Submission:
    """One record to store: its exact bytes, and the result of `strict_json.read` with numbers as their spelling.
    `identity` names it among the records of its kind."""

    kind: str
    identity: str
    payload: bytes
    content: dict[str, Any]
    source: str
    parents: Sequence[bytes] = ()


def seal_all(keys: Keyring, submissions: Sequence[Submission]) -> list[Sealed]:
    now = timezone.now()
    return [
        sealer.seal(
            keys,
            kind=submission.kind,
            identity=record_types.identity(submission.kind, submission.identity),
            payload=submission.payload,
            content=submission.content,
            received_at=now,
            parents=submission.parents,
        )
        for submission in submissions
    ]


class Place(NamedTuple):
    """Target and state of new records.

    Attributes:
        state: their first state.
        lease_token: the lease under which the caller puts reserved objects.
    """

    target_id: str
    state: Entry.State
    lease_token: uuid.UUID

    @classmethod
    def of_new_records(cls, keys: Keyring) -> "Place":
        target_id = storage_targets.current(keys.organization_id).pk
        if keys.is_queueing:
            state = Entry.State.QUEUED
        else:
            state = Entry.State.STORED if vaults.of(target_id).transactional else Entry.State.RESERVED
        return cls(target_id, state, uuid.uuid4())


def new_record(sealed: Sealed, submission: Submission, place: Place) -> NewRecord:
    entry = Entry(
        record_id=sealed.record_id,
        organization_id=sealed.organization_id,
        kind=sealed.kind,
        received_at=sealed.received_at,
        target_id=place.target_id,
        state=place.state,
        statement=sealed.statement,
        signature=sealed.signature,
        key_id=sealed.key_id,
    )
    body = sealer.pack(sealed)
    stored: SealedObject | WaitingObject
    if place.state == Entry.State.STORED:
        stored = SealedObject(key=object_key(sealed.organization_id, sealed.record_id), body=body)
    else:
        owner = {"organization_id": sealed.organization_id, "queued_at": sealed.received_at}
        lease: dict[str, Any] = {}
        if place.state == Entry.State.RESERVED:
            lease = {"lease_token": place.lease_token, "lease_until": sealed.received_at + LEASE}
        stored = WaitingObject(record=entry, body=body, **owner, **lease)
    return NewRecord(
        entry,
        stored,
        record_types.index_row(
            Indexing(
                record_id=sealed.record_id,
                organization_id=sealed.organization_id,
                kind=sealed.kind,
                content=submission.content,
                received_at=sealed.received_at,
                source=submission.source,
            )
        ),
    )
