"""Checks of everything in custody: each item is read, opened and compared with its signed statement.

A check names damaged items and never the content of a record. If a store or a key service does not answer, its items
count as unchecked, not as damaged.
"""

import hashlib
import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.serialization import load_pem_public_key
from django.conf import settings
from django.db import DatabaseError
from django.db.models import F, QuerySet

from accounts import audit_seals
from config import db, master_key, row_guards, triggers
from config.errors import Fault
from config.http import strict_json
from config.http.strict_json import spelling
from config.wrapped_secrets import MasterKeyWrong, NotImported
from custody import objects, record_types, selectors, signers, vaults
from custody.disposal import disposal_statements
from custody.keys import keyrings
from custody.keys.keyrings import KeyMissing
from custody.keys.kms import KmsUnavailable
from custody.models import Disposal, Entry, Key, StorageTarget
from custody.record_types import Indexing
from custody.sealing import fields, sealer, statements, verifier
from custody.sealing.sealer import Opened
from custody.vaults import ObjectMissing, VaultUnavailable, storage_targets

BATCH = 100
MAX_LISTED_AT_ONCE = 10_000  # objects; more are listed in 256 parts, so that the check can save its place in between
_AWAY = (VaultUnavailable, KmsUnavailable, MasterKeyWrong, NotImported, KeyMissing)
_OF_ALL = "disposals without a custody row lead to no organization"
_MADE_ELSEWHERE = {"source"}
"""Columns of index rows that are not in the record."""


class Finding(NamedTuple):
    """Result of one check. Without a problem the item passed; an item that could not be read is not checked."""

    kind: str
    name: str
    problem: str = ""
    is_checked: bool = True


Step = tuple[str, list[Finding]]
"""The item after which a stopped check continues, and the findings up to it."""


def _judged(kind: str, name: str, problems: Callable[[], Iterable[str]]) -> Finding:
    """Return an item's first problem. An exception while it is read is a problem too."""
    try:
        return Finding(kind, name, next(iter(problems()), ""))
    except _AWAY as error:
        return Finding(kind, name, str(error), is_checked=False)
    except Fault as error:
        return Finding(kind, name, f"{error.code.replace('_', ' ')}: {error}")
    except DatabaseError:
        raise
    except Exception as error:  # damage can break the code that reads it
        return Finding(kind, name, f"It cannot be read: {type(error).__name__}.")


def check_keys(organization_id: uuid.UUID, after: str) -> Iterator[Step]:
    rows = list(Key.objects.for_organization(organization_id).order_by("pk"))
    for row in (row for row in rows if row.pk > int(after or 0)):
        yield str(row.pk), [_judged("key", row.key_id, partial(_key_problems, row))]
    if rows or Entry.objects.for_organization(organization_id).exists():
        active = [row.purpose for row in rows if row.retired_at is None]
        missing = [purpose.value for purpose in Key.Purpose if active.count(purpose.value) != 1]
        yield "", [Finding("key", purpose, "There is no such key in use.") for purpose in missing]


def _key_problems(row: Key) -> Iterator[str]:
    if row.valid_from and row.valid_from < row.created_at:
        entries = Entry.objects.for_organization(row.organization_id)
        if not entries.filter(received_at=row.valid_from).exists():
            yield "It is valid from before it was made, at a time when no record came in."
    if row.purpose == Key.Purpose.SIGNING:
        public: Any = load_pem_public_key(row.public_pem.encode())
        if (signers.key_id(public), signers.algorithm_of(public)) != (row.key_id, row.algorithm):
            yield "Its public half is another key's."
    if row.provider == Key.Provider.LOCAL:
        try:
            secret = row.unwrap()
        except MasterKeyWrong:
            if row.wrapped_by not in map(master_key.key_id, settings.MASTER_KEYS):
                raise
            yield "Its secret half does not open."
            return
        if keyrings.id_of(Key.Purpose(row.purpose), secret) != row.key_id:
            yield "Its secret half is another key's."


def check_records(organization_id: uuid.UUID, after: str) -> Iterator[Step]:
    rows = Entry.objects.for_organization(organization_id).order_by("pk")
    last = uuid.UUID(after) if after else uuid.UUID(int=0)
    while batch := list(rows.filter(pk__gt=last)[:BATCH]):
        # Listed after the batch was read, so that the key that has just signed one of its records is included.
        key_list = json.dumps({"items": selectors.public_keys(organization_id)}).encode()
        for entry in batch:
            yield str(entry.pk), _findings(entry, key_list)
        last = batch[-1].pk


def _findings(entry: Entry, key_list: bytes) -> list[Finding]:
    """Check a record, and repeat the check if it was signed, moved or disposed of meanwhile."""
    findings = _check_record(entry, key_list)
    if any(finding.problem for finding in findings):
        now = db.only(Entry.objects.for_organization(entry.organization_id).filter(pk=entry.pk))
        if now and (now.state, now.target_id, bytes(now.signature)) != (
            entry.state, entry.target_id, bytes(entry.signature),
        ):  # fmt: skip
            return _check_record(now, key_list)
    return findings


def _check_record(entry: Entry, key_list: bytes) -> list[Finding]:
    name = str(entry.pk)
    if entry.state == Entry.State.DISPOSED:
        return [_judged("disposal", name, lambda: _disposal_problems(entry))]
    read: list[tuple[Opened, dict[str, Any]]] = []

    def record_problems() -> Iterator[str]:
        fetched = selectors.fetched(entry)
        opened = fetched.open()
        content = strict_json.read(opened.payload, number=spelling, integer=spelling)
        yield from _statement_problems(fetched.entry, fetched.body, opened, content)
        read.append((opened, content))

    findings = [_judged(entry.kind, name, record_problems)]
    if not read:
        return findings
    opened, content = read[0]
    findings.append(_judged("index row", name, lambda: _index_problems(entry, content)))
    if entry.state == Entry.State.STORED:
        findings.append(_judged("receipt", name, lambda: _receipt_problems(entry, opened, content, key_list)))
    if inspect := record_types.get(entry.kind).inspect:
        findings.append(_judged("parts", name, lambda: inspect(entry, opened.payload)))
    return findings


def _disposal_problems(entry: Entry) -> Iterator[str]:
    statements.verified_row(entry)
    row = db.only(Disposal.objects.for_organization(entry.organization_id).select_related("record").filter(pk=entry.pk))
    if row is None:
        yield "No signed disposal says why the record is gone."
    else:
        disposal_statements.verified(row)


def _statement_problems(entry: Entry, body: bytes, opened: Opened, content: dict[str, Any]) -> Iterator[str]:
    header, ciphertext = sealer.unpack(body)
    signed = json.loads(bytes(entry.statement))["predicate"]
    digest = {"sha256": hashlib.sha256(ciphertext).hexdigest(), "size": len(ciphertext)}
    if (signed["ciphertext"], signed["kekId"]) != (digest, header.kek_id):
        yield "Its ciphertext is not what was signed."
    leaves = fields.leaves(opened.payload, content)
    root = fields.commitment(leaves, opened.secrets.field_salt_key).hex()
    if signed["fields"] != {"root": root, "count": len(leaves)}:
        yield "Its fields are not those that were signed."
    if sealer.record_id(bytes.fromhex(signed["decisionRef"])) != entry.pk:
        yield "Its id is not what was signed."
    record_type = record_types.get(entry.kind)
    if record_type.ids_of_callers:
        identity = record_types.identity(entry.kind, str(content["decision_id"]))
        if not selectors.identifies(identity, entry):
            yield "Its id comes from another decision_id."
    parents = Entry.objects.for_organization(entry.organization_id).filter(pk__in=record_type.parents(content))
    digests = sorted(hashlib.sha256(bytes(parent.statement)).hexdigest() for parent in parents)
    if digests != sorted(signed["parents"]):
        yield "A record that it builds on is missing or changed."


def check_index(organization_id: uuid.UUID, after: str) -> Iterator[Step]:
    """Find index rows without a custody row, and rows whose record is missing."""
    for model in {record_type.index: None for record_type in record_types.registered()}:
        rows = model._base_manager.filter(organization=organization_id)
        entries = Entry.objects.for_organization(organization_id)
        for orphans in _orphans("index row", rows, entries):
            yield "", orphans
    for record_type in record_types.registered():
        for row in record_type.unsealed(organization_id):
            yield "", [Finding(record_type.name, row.name, row.problem, is_checked=not row.is_waiting)]


def _orphans(kind: str, rows: QuerySet[Any], entries: QuerySet[Entry]) -> Iterator[list[Finding]]:
    """Yield findings about the rows without a custody row, batch by batch."""
    problem, last = f"{rows.model._meta.label} has it, but there is no custody row.", uuid.UUID(int=0)
    while ids := list(rows.filter(pk__gt=last).order_by("pk").values_list("pk", flat=True)[:BATCH]):
        known = set(entries.filter(pk__in=ids).values_list("pk", flat=True))
        yield [Finding(kind, str(pk), problem) for pk in ids if pk not in known]
        last = ids[-1]


def check_disposed_records(after: str) -> Iterator[Step]:
    """Find disposals without a custody row. They belong to no organization."""
    for orphans in _orphans("disposal", Disposal.objects.unscoped(_OF_ALL), Entry.objects.unscoped(_OF_ALL)):
        yield "", orphans


def _index_problems(entry: Entry, content: dict[str, Any]) -> Iterator[str]:
    expected = record_types.index_row(
        Indexing(
            record_id=entry.pk,
            organization_id=entry.organization_id,
            kind=entry.kind,
            content=content,
            received_at=entry.received_at,
            source="",
        )
    )
    row = db.only(type(expected)._base_manager.filter(pk=entry.pk))
    if row is None:
        yield "There is no index row."
        return
    columns = {field.attname for field in expected._meta.concrete_fields} - _MADE_ELSEWHERE
    other = sorted(column for column in columns if getattr(row, column) != getattr(expected, column))
    if other:
        yield f"Columns differ from the record: {', '.join(other)}."


def _receipt_problems(entry: Entry, opened: Opened, content: dict[str, Any], key_list: bytes) -> Iterator[str]:
    receipt = selectors.receipt_of(entry, opened.secrets.payload_salt).as_json()
    if record_types.get(entry.kind).ids_of_callers:
        receipt["decision_id"] = content["decision_id"]
    report = verifier.verify(json.dumps(receipt).encode(), [], opened.payload, lists=[key_list])
    if report.failed:
        yield f"{report.failed.check}: {report.failed.sentence}"


def check_disposals(organization_id: uuid.UUID, after: str) -> Iterator[Step]:
    """Find disposals whose records are not disposed of."""
    rows = Disposal.objects.for_organization(organization_id).exclude(record__state=Entry.State.DISPOSED)
    alive = rows.values_list("pk", flat=True)
    yield "", [Finding("disposal", str(pk), "Its record is not disposed of.") for pk in alive.iterator()]


def check_objects(organization_id: uuid.UUID, after: str) -> Iterator[Step]:
    """Find objects in the vaults that have no row, part by part: `after` is a target and a part of it."""
    whole = Entry.objects.for_organization(organization_id)[:MAX_LISTED_AT_ONCE].count() < MAX_LISTED_AT_ONCE
    parts = [""] if whole else [f"{number:02x}/" for number in range(256)]
    places = [(target, part) for target in storage_targets.all_of(organization_id) for part in parts]
    names = [f"{target.pk} {part}" for target, part in places]
    begin = names.index(after) + 1 if after in names else 0
    for (target, part), name in zip(places[begin:], names[begin:], strict=True):
        prefix = f"{organization_id.hex}/records/{part}"
        try:
            for batch in _batches(vaults.of(target.pk).list(prefix)):
                yield "", _strays(organization_id, target, batch)
        except VaultUnavailable as error:
            yield "", [Finding("objects of", target.pk, str(error), is_checked=False)]
        yield name, []


def _batches(listed: Iterator[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    for key in listed:
        batch.append(key)
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch


def _strays(organization_id: uuid.UUID, target: StorageTarget, listed: Sequence[str]) -> list[Finding]:
    ids = {key: _record_id(key) for key in listed}
    entries = Entry.objects.for_organization(organization_id).filter(pk__in=[pk for pk in ids.values() if pk])
    known = dict(entries.values_list("pk", "state"))
    gone = [pk for pk, state in known.items() if state == Entry.State.DISPOSED]
    finished = Disposal.objects.for_organization(organization_id).exclude(finished_at=None)
    left = set(finished.filter(pk__in=gone, kept_until=None).values_list("pk", flat=True))
    made_elsewhere = _made_elsewhere(entries, target)
    findings = []
    for key, record_id in ids.items():
        name, problem = f"{target.pk} {key}", ""
        if record_id not in known:
            problem = "No row names it: manage.py custody_reconcile --adopt restores the row, or names the cause."
        elif record_id in left:
            problem = "Its record was disposed of."
        elif record_id in made_elsewhere:
            findings.append(_judged("object", name, partial(_copy_problems, made_elsewhere[record_id], target)))
            continue
        findings.append(Finding("object", name, problem))
    return findings


def _made_elsewhere(entries: QuerySet[Entry], target: StorageTarget) -> dict[uuid.UUID, Entry]:
    """Return the records that were stored in other targets at once. An object in this target is then no copy that a
    move has left."""
    elsewhere = entries.exclude(target=target).exclude(state=Entry.State.DISPOSED)
    elsewhere = elsewhere.filter(received_at__gte=F("target__created_at"))
    if target.retired_at:
        elsewhere = elsewhere.filter(received_at__gt=target.retired_at)
    return elsewhere.in_bulk()


def _copy_problems(entry: Entry, target: StorageTarget) -> Iterator[str]:
    """Find an object of another record with the same id: the database was restored and had lost it."""
    try:
        body = objects.get(vaults.of(target.pk), entry.organization_id, entry.pk)
    except ObjectMissing:  # the remains of a destroyed record
        return
    if sealer.unpack(body)[0].statement != bytes(entry.statement):
        yield "Another record of this id is stored elsewhere. Copy this object to another place, and remove it here."


def _record_id(key: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(key.rsplit("/", 1)[1])
    except ValueError:
        return None


def check_guards(after: str) -> Iterator[Step]:
    yield (
        "",
        [
            Finding("guard", table, "Triggers that keep signed rows are missing, disabled or changed.")
            for table in triggers.missing(row_guards.PREFIX)
        ],
    )


def check_audit_trail(after: str) -> Iterator[Step]:
    for last, problems, events in audit_seals.verified(int(after or 0)):
        damaged = [Finding("audit event", name, problem) for name, problem in problems]
        yield str(last), damaged + [Finding("audit event", "")] * (events - len(damaged))


ORGANIZATION: dict[str, Callable[[uuid.UUID, str], Iterator[Step]]] = {
    "keys": check_keys,
    "records": check_records,
    "index": check_index,
    "disposals": check_disposals,
    "objects": check_objects,
}
INSTALLATION: dict[str, Callable[[str], Iterator[Step]]] = {
    "guards": check_guards,
    "disposals": check_disposed_records,
    "audit": check_audit_trail,
}
