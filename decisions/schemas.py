from typing import Annotated, Any

from pydantic import Field

from config.api.pagination import Page
from config.api.times import Moment
from config.api.views import Answer

Text = Annotated[str, Field(max_length=256, pattern="^[^\\x00]*$")]


class DecisionQuery(Page):
    """Filters of the list of decisions; times are RFC 3339, `…_from` inclusive and `…_to` exclusive."""

    action: Text | None = None
    kind: Text | None = None
    system: Text | None = None
    source: Text | None = None
    received_from: Moment | None = None
    received_to: Moment | None = None
    decided_from: Moment | None = None
    decided_to: Moment | None = None


class System(Answer):
    name: str | None
    version: str | None


class Subject(Answer):
    reference: str | None


class DecisionOut(Answer):
    decision_id: str
    record_id: str
    kind: str
    source: str
    received_at: str
    decided_at: str | None
    action: str | None
    system: System
    subject: Subject
    custody: str


class DecisionPage(Answer):
    items: list[DecisionOut]
    next_cursor: str | None


class Signature(Answer):
    keyid: str
    sig: str


class Envelope(Answer):
    payload: str
    payloadType: str
    signatures: list[Signature]


class ReceiptOut(Answer):
    """What proves that a record is in custody. `envelope` is DSSE v1 over an in-toto statement; `payload_salt` (hex)
    is the HMAC-SHA-256 key under which the record's bytes give the statement's subject digest."""

    decision_id: str
    record_id: str
    kind: str
    received_at: str
    key_id: str
    envelope: Envelope
    payload_salt: str
    log: str


class BatchLine(Answer):
    line: int
    status: str
    decision_id: str | None = None
    record_id: str | None = None
    detail: Any = None
