"""Intake of a batch of items into custody, with the result of each item."""

import hashlib
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from accounts import callers
from config.errors import Fault
from connectors.formats import Item
from connectors.maps import FieldMap, Unmapped, record_of
from connectors.models import Connector, Quarantined
from custody.services import TAKEN, Status
from decisions import services as decisions

_MAX_REASON = 1000
_KEY_TWICE = "a key appears twice in one object"


class CustodyWaits(Fault):
    """Some records may not be in custody, so the batch must be read again."""

    code, status = "custody_waits", 503
    sentence = "Custody does not take records right now."


class CustodyFull(Fault):
    """The organization's queue of records is too long for further polls."""

    code, status = "custody_full", 503
    sentence = "Too many records of this organization wait for their signature or storage."


@dataclass(frozen=True, slots=True)
class Bad:
    """An item for the quarantine."""

    item: Item
    cause: Quarantined.Cause
    reason: str

    @property
    def digest(self) -> str:
        """Return a digest of the bytes or, without bytes, of the position. Items of one digest count once."""
        return hashlib.sha256(self.item.raw or self.item.position.encode()).hexdigest()


@dataclass(slots=True)
class Intake:
    """The result of a batch."""

    seen: int = 0
    new: int = 0
    repeated: int = 0
    bad: list[Bad] = field(default_factory=list)
    good: list[Item] = field(default_factory=list)


def take(connector: Connector, items: Sequence[Item], field_map: FieldMap | None) -> Intake:
    """Take the items of a batch into custody.

    Raises:
        CustodyWaits: some records may not be in custody.
    """
    intake = Intake(seen=len(items))
    good: list[tuple[Item, bytes]] = []
    for item in items:
        if item.problem:
            intake.bad.append(_invalid(item, item.problem))
            continue
        try:
            raw = record_of(item.raw, field_map) if field_map else item.raw
        except Unmapped as error:
            intake.bad.append(_invalid(item, error.sentence))
            continue
        if raw.strip():
            good.append((item, raw))
        else:
            intake.bad.append(_invalid(item, "It is empty."))
    waits = ""
    for line in _ingest(connector.organization_id, [raw for _, raw in good], f"connector:{connector.source_id}"):
        item = good[line.number - 1][0]
        if line.status in TAKEN or line.status == Status.DISPOSED:  # it was in custody, and must not return
            intake.good.append(item)
            intake.new += line.is_new
            intake.repeated += not line.is_new
        elif line.status == Status.CONFLICT:
            intake.bad.append(Bad(item, Quarantined.Cause.CONFLICT, str(line.detail)))
        elif line.status == decisions.INVALID:
            intake.bad.append(_invalid(item, _reason(line)))
        else:
            waits = waits or str(line.detail or CustodyWaits.sentence)
    if waits:
        raise CustodyWaits(waits)
    return intake


def _ingest(organization_id: uuid.UUID, lines: Sequence[bytes], source: str) -> Iterator[decisions.Line]:
    return decisions.ingest_lines(caller=callers.system(organization_id), lines=lines, source=source)


def _invalid(item: Item, reason: str) -> Bad:
    return Bad(item, Quarantined.Cause.INVALID, reason[:_MAX_REASON])


def _reason(line: decisions.Line) -> str:
    """Return why a line is not a record, without values and keys, which may be personal data."""
    if not isinstance(line.detail, list):
        return "Not a valid record."
    return "; ".join(_problem(str(error["type"]), str(error["msg"]), error["loc"]) for error in line.detail)


def _problem(kind: str, message: str, where: Sequence[str | int]) -> str:
    if kind == "json_invalid":
        reason = message.removeprefix("JSON decode error: ")
        return f"Invalid JSON: {_KEY_TWICE if reason.startswith('the key ') else reason}."
    if "decision_id" in where:
        return f"decision_id: {message.removeprefix('Value error, ')}."
    return f"{message.removeprefix('Value error, ')}."
