"""Request and response bodies of the API for connectors."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from config import secret_references
from config.errors import DomainError
from config.http.cursors import Page
from config.http.numbers import WHOLE
from config.http.schemas import SAME_OBJECT, Answer, Id, QueryString, RequestBody, Text, TextOrNull
from config.http.timestamps import Moment, Timestamp
from connectors.maps import FieldMap
from connectors.models import MAX_NAME, MAX_SCHEDULE, MIN_SCHEDULE, Kind

KINDS = tuple(Kind.values)


def _allowed_reference(value: str) -> str:
    if value:
        try:
            secret_references.require_allowed(value)
        except DomainError as error:
            raise ValueError(error.sentence) from None
    return value


Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME)]
Schedule = Annotated[int, Field(ge=MIN_SCHEDULE, le=MAX_SCHEDULE), WHOLE]
SecretRef = Annotated[
    str, AfterValidator(_allowed_reference), Field(json_schema_extra={"pattern": secret_references.PATTERN})
]


class ConnectorIn(RequestBody):
    """`config` is free-form: errors in it become `problems` in the response."""

    private: ClassVar = frozenset({"config", "secret_ref"})

    kind: Literal[KINDS]  # type: ignore[valid-type]
    name: Name
    config: dict[str, Any] = {}
    secret_ref: Annotated[SecretRef | None, Field(description="A reference to a secret, never the secret.")] = None
    schedule_seconds: Schedule = 300
    enabled: bool = True


class ConnectorPatch(RequestBody):
    """Null means unchanged. `config` replaces all settings; a `secret_ref` of "" clears it."""

    private: ClassVar = frozenset({"config", "secret_ref"})

    name: Name | None = None
    config: dict[str, Any] | None = None
    secret_ref: SecretRef | None = None
    schedule_seconds: Schedule | None = None
    enabled: bool | None = None
    reset_cursor: bool = False


class QuarantineIn(RequestBody):
    """The ids of the items. Default: all items."""

    items: Annotated[list[int], Field(max_length=1000)] | None = None


class MapPreviewIn(RequestBody):
    """A field map and one item to try it on."""

    private: ClassVar = frozenset({"map", "item"})

    map: FieldMap
    item: dict[str, Any]


class ListPage(Page):
    """A list without filters."""


class ConnectorRecords(Answer):
    seen: int
    new: int
    repeated: int
    quarantined: int


class ConnectorRunOut(Answer):
    started_at: Timestamp
    finished_at: Timestamp | None
    outcome: str
    records: ConnectorRecords = Field(validation_alias=SAME_OBJECT)
    cause: str
    detail: str
    fix: str


class ConnectorOut(Answer):
    source_id: Id
    kind: str
    name: str
    config: dict[str, Any]
    secret_ref: TextOrNull
    schedule_seconds: int
    enabled: bool
    state: str
    problems: list[str]
    stopped_because: TextOrNull
    created_at: Timestamp
    created_by: str
    next_poll_at: Timestamp | None
    cursor: dict[str, Any]
    lag_seconds: int | None
    records: ConnectorRecords = Field(validation_alias=SAME_OBJECT)


class ConnectorDetail(ConnectorOut):
    last_run: ConnectorRunOut | None
    in_quarantine: int


class ConnectorList(Answer):
    items: list[ConnectorOut]
    next_cursor: str | None


class ConnectorDeleted(Answer):
    source_id: str
    deleted: bool


class ConnectorRunList(Answer):
    items: list[ConnectorRunOut]
    next_cursor: str | None


class ConnectorTestStep(Answer):
    name: str
    ok: bool
    detail: str
    fix: str
    warns: bool


class ConnectorTestOut(Answer):
    ok: bool
    steps: list[ConnectorTestStep]


class QuarantinedOut(Answer):
    id: int
    cause: str
    position: str
    reason: str
    digest: str
    created_at: Timestamp


class QuarantineList(Answer):
    items: list[QuarantinedOut]
    next_cursor: str | None


class QuarantineDone(Answer):
    source_id: str
    items: int


class MapPreviewOut(Answer):
    """`record` is the text of the record, byte for byte."""

    decision_id: str | None
    record: str | None
    problems: list[str]


class CompletenessQuery(QueryString):
    """The period and system that the ids belong to. `to` is outside the period."""

    system: Annotated[Text, Field(min_length=1)]
    begin: Annotated[Moment, Field(alias="from")]
    end: Annotated[Moment, Field(alias="to")]


class CompletenessOut(Answer):
    """`completeness` is the share of the source's decisions that are in custody; 1 means all."""

    completeness: float
    expected: int
    present: int
    missing: list[str]
    missing_count: int
    unknown: list[str]
    unknown_count: int
