from typing import Annotated, Any, ClassVar

from pydantic import AliasPath, BeforeValidator, ConfigDict, Field, RootModel
from pydantic_core import PydanticKnownError

from config.http.cursors import Page
from config.http.schemas import SAME_OBJECT, Answer, Id, QueryString, RequestBody, Text, TextOrNull
from config.http.timestamps import Moment, Timestamp
from custody.schemas import DisposalOut, Envelope


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
    name: TextOrNull = Field(validation_alias="system_name")
    version: TextOrNull = Field(validation_alias="system_version")


class Subject(Answer):
    reference: TextOrNull = Field(validation_alias="subject_reference")


class DecisionOut(Answer):
    decision_id: str
    record_id: Id = Field(validation_alias="pk")
    kind: str
    source: str
    received_at: Timestamp
    decided_at: Timestamp | None
    action: TextOrNull
    system: System = Field(validation_alias=SAME_OBJECT)
    subject: Subject = Field(validation_alias=SAME_OBJECT)
    custody: str = Field(validation_alias=AliasPath("record", "state"))
    current_action: TextOrNull
    latest_reconsideration: str | None
    latest_outcome: str | None


class Reconsideration(Answer):
    decision_id: str
    reconsiders: str = Field(validation_alias=AliasPath("reconsiders", "decision_id"))
    received_at: Timestamp
    outcome: str = Field(validation_alias="review_outcome")
    new_action: TextOrNull = Field(validation_alias="action")
    reviewer: str
    reviewer_authority: str


class DecisionDetail(DecisionOut):
    """`reconsiders` and `first_record_id` are set for a reconsideration; `history` is the chain, oldest first."""

    reconsiders: str | None
    first_record_id: Id | None = Field(validation_alias="first_id")
    history: list[Reconsideration]


class DecisionPage(Answer):
    items: list[DecisionOut]
    next_cursor: str | None


class ReceiptOut(Answer):
    """The proof that a record is in custody. `envelope` is DSSE v1 over an in-toto statement. `payload_salt` (hex) is
    the HMAC-SHA-256 key under which the record's bytes give the statement's subject digest. When the record was
    disposed of, `payload_salt` is null, and `verdict` and `disposal` say what is proved."""

    decision_id: str
    record_id: str
    kind: str
    received_at: str
    key_id: str
    envelope: Envelope
    payload_salt: str | None
    log: str
    verdict: str | None = None
    disposal: DisposalOut | None = None


class Queued(Answer):
    """A record that is sealed and stored, and waits for its signature. Get the receipt later from
    `/v1/decisions/{decision_id}/receipt`."""

    decision_id: str
    record_id: str
    custody: str


class ReceiptQuery(QueryString):
    """`wait`: seconds to wait for the receipt of a queued record."""

    wait: Annotated[int, Field(ge=0, le=20)] = 0


class ReconsiderationIn(RequestBody):
    private: ClassVar = frozenset({"rationale", "evidence_considered", "requested_by", "reviewer"})

    requested_by: str
    reviewer: str
    reviewer_authority: str
    evidence_considered: Annotated[list[str], Field(max_length=1000)] = []
    outcome: Annotated[str, Field(min_length=1, max_length=64)]
    rationale: str
    new_action: Annotated[str, Field(max_length=256)] | None = None


class ReconsiderationCheckIn(RequestBody):
    """Texts to compare with the commitments of the reconsideration; they are not stored."""

    private: ClassVar = frozenset({"rationale", "evidence_considered"})

    rationale: str | None = None
    evidence_considered: Annotated[list[str], Field(max_length=1000)] = []


class Commitment(Answer):
    """SHA-256(salt ‖ text): `salt` is base64, `commitment` hex. Only the sender of the text receives the salt."""

    algorithm: str
    salt: str
    commitment: str


class ToBeTold(Answer):
    """A review request that the reconsideration answers. The person has to be notified, and `next` says how."""

    review_request_id: str
    due_at: str | None
    next: str


class ReconsiderationWaiting(Answer):
    """A reconsideration that is recorded and sealed, but not signed or not in its vault yet. Get the receipt later from
    `/v1/decisions/{decision_id}/receipt`."""

    decision_id: str
    reconsiders: str
    rationale: Commitment
    evidence_considered: list[Commitment]
    to_be_told: list[ToBeTold]


class ReconsiderationOut(ReceiptOut):
    reconsiders: str
    rationale: Commitment
    evidence_considered: list[Commitment]
    to_be_told: list[ToBeTold]


class ReconsiderationCheckOut(Answer):
    """`rationale` is null if none was sent. `evidence_considered` has a result for each reference sent, in order."""

    rationale: bool | None
    evidence_considered: list[bool]


def _true_or_false(value: object) -> object:
    """Refuse all but `true` and `false`: pydantic would also accept `1`, `yes` and `on`."""
    if value not in ("true", "false"):
        raise PydanticKnownError("bool_parsing")
    return value


class IngestQuery(QueryString):
    dry_run: Annotated[
        bool,
        BeforeValidator(_true_or_false),
        Field(description="Check the record and store nothing."),
    ] = False


class RecordWarningOut(Answer):
    """`where` is a path of the record; "" is the whole. `kind` is one of misspelt, time, not_indexed, notice, more."""

    kind: str
    where: str
    sentence: str


class DryRunOut(Answer):
    """`would_be` is the status that an ingest would end in: created, queued, replayed, conflict or disposed."""

    dry_run: bool
    decision_id: str
    would_be: str = Field(validation_alias="status")
    warnings: list[RecordWarningOut]


class IngestAnswer(RootModel[ReceiptOut | DryRunOut]):
    """The first receipt of a record that is in custody already, or the result of a dry run."""

    model_config = ConfigDict(json_schema_extra={"type": "object", "additionalProperties": True})


class BatchQuery(QueryString):
    """`receipts`: whether the answer to a line has the record's receipt."""

    receipts: bool = False


class BatchLine(Answer):
    """`receipt` is present if the request asked for receipts and the record is in custody, signed."""

    line: int
    status: str
    decision_id: str | None = None
    record_id: str | None = None
    detail: Any = None
    receipt: ReceiptOut | None = None
