"""Bodies and answers of the API for retention."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from config.http.cursors import Page
from config.http.numbers import WHOLE
from config.http.schemas import Answer, Id, RequestBody, Text, TextOrNull
from config.http.timestamps import MomentInBody, Timestamp
from custody.record_types import Floor
from decisions.records import DecisionId
from retention import rules
from retention.models import MAX_DAYS, MAX_MATTER, MAX_NOTE, MAX_REASON, MIN_DAYS

Days = Annotated[int, Field(ge=MIN_DAYS, le=MAX_DAYS), WHOLE]
SharePercent = Annotated[int, Field(ge=1, le=100), WHOLE]
Matter = Annotated[str, Field(max_length=MAX_MATTER, pattern=r"\S")]
Reason = Annotated[str, Field(max_length=MAX_REASON, pattern=r"\S")]
Value = Annotated[Text, Field(min_length=1)]


class RetentionIn(RequestBody):
    """Without `share_percent`, the share stays unchanged. With `dry_run`, nothing is saved."""

    days: Days
    note: Annotated[str, Field(max_length=MAX_NOTE)] = ""
    share_percent: Annotated[
        SharePercent | None, Field(description="Share of decisions a daily run may dispose of without asking.")
    ] = None
    dry_run: bool = False


class HoldFilter(RequestBody):
    """Values a decision must match; times as in the list of decisions. One matching decision holds its family."""

    model_config = ConfigDict(strict=True, extra="forbid", json_schema_extra={"minProperties": 1})

    action: Value | None = None
    system: Value | None = None
    source: Value | None = None
    subject_reference: Value | None = None
    decided_from: MomentInBody | None = None
    decided_to: MomentInBody | None = None
    received_from: MomentInBody | None = None
    received_to: MomentInBody | None = None

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not self.as_json():
            raise ValueError("a filter names at least one value")
        if rules.is_empty_range(self.as_json()):
            raise ValueError("the start of a range must be before its end")
        return self

    def as_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_none=True)


class HoldIn(RequestBody):
    """A hold either on the family of a decision, or on all families that match a filter, now or later."""

    private: ClassVar = frozenset({"matter", "reason", "filter"})

    matter: Matter
    reason: Reason
    decision_id: DecisionId | None = None
    filter: HoldFilter | None = None

    @model_validator(mode="after")
    def _covers_one_or_many(self) -> Self:
        if (self.decision_id is None) == (self.filter is None):
            raise ValueError("name either a decision_id or a filter")
        return self


class LiftIn(RequestBody):
    private: ClassVar = frozenset({"reason"})

    reason: Reason


class HoldQuery(Page):
    state: Literal["in_force", "lifted"] | None = None


class ListPage(Page):
    """A list without filters."""


class PolicyOut(Answer):
    """`begins_at` is when the daily run begins under it: null until an owner got the mail about a shorter policy."""

    number: int
    days: int
    note: str
    share_percent: int
    created_by: str
    created_at: Timestamp
    shortens: bool
    announced_at: Timestamp | None
    begins_at: Timestamp | None


class FloorLaw(Answer):
    pack: str = Field(validation_alias="source")
    days: int
    citation: str


class FloorOut(FloorLaw):
    """A law that requires keeping decisions on which a pack was used. `lengthens`: for longer than the policy."""

    lengthens: bool


class FloorCount(FloorLaw):
    families: int


def _floor_counts(families: Mapping[Floor, int]) -> list[FloorCount]:
    return [FloorCount.of(floor, families=count) for floor, count in families.items()]


class PreviewOut(Answer):
    """The policy's present effect, in families: a decision with its reconsiderations, notices and letters.

    `frees` are those that are not due already. With `at_least`, there are more than were checked.
    """

    frees: int = Field(validation_alias="newly_due")
    due: int
    held: int
    kept_by_floor: Annotated[list[FloorCount], BeforeValidator(_floor_counts)] = Field(validation_alias="by_floor")
    with_obstacle: int
    at_least: bool = Field(validation_alias="is_capped")


class DailyOut(Answer):
    """The policy of the daily run: `days` is null while it disposes of nothing."""

    days: int | None
    policy: int | None


class HoldsOut(Answer):
    """`families` is the number of held families, counted up to 1,001."""

    in_force: int
    families: int


class RetentionOut(Answer):
    """`current` is the newest version, null without a policy. `history` has the newest 200 versions.

    Without a journal, a restored backup brings back records disposed of since.
    """

    days: int | None
    note: str | None
    current: PolicyOut | None
    history: list[PolicyOut]
    daily: DailyOut
    floors: list[FloorOut]
    holds: HoldsOut
    journal: bool


class RetentionSet(RetentionOut):
    """`saved` is false after a dry run."""

    preview: PreviewOut
    saved: bool


class HoldOut(Answer):
    """`record_id` is the first record of the held family; `filter` is set for a hold by a filter instead."""

    number: int
    matter: str
    reason: str
    record_id: Id | None = Field(validation_alias="root")
    filter: dict[str, Any] | None
    placed_by: str
    placed_at: Timestamp
    lifted_by: TextOrNull
    lifted_at: Timestamp | None
    lifted_because: TextOrNull


class HoldList(Answer):
    items: list[HoldOut]
    next_cursor: str | None


class DisposalOut(Answer):
    """`finished_at` is null until the record is removed from all storage.

    `kept_until` is the end of the storage's lock on the object, whose key is destroyed. `recoverable_until` is the end
    of the storage's soft delete.
    """

    record_id: Id = Field(validation_alias="pk")
    first_record_id: Id = Field(validation_alias="root")
    policy: int
    disposed_at: Timestamp
    finished_at: Timestamp | None
    kept_until: Timestamp | None
    recoverable_until: Timestamp | None


class DisposalList(Answer):
    items: list[DisposalOut]
    next_cursor: str | None


class DecisionRetention(Answer):
    """`state` is `due`, or the first reason that applies: `no_policy`, `not_yet`, `floor`, `hold`, `obstacle`.

    `disposed_from` follows from the current policy and the floor that lengthens it. `holds` are numbers of holds.
    """

    decision_id: str
    state: str
    policy: int | None
    counts_from: Timestamp
    disposed_from: Timestamp | None
    floor: FloorOut | None
    holds: list[int]
    obstacles: list[str]
