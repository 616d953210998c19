from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field

from config.api.numbers import WHOLE
from config.api.pagination import Page
from config.api.schemas import Answer, QueryString, RequestBody, Text
from config.api.times import DayInBody, MomentInBody
from notices.letters import recipient
from notices.packs import directories
from notices.record_paths import MOST_SOURCE

PackId = Annotated[str, Field(json_schema_extra={"enum": [path.name for path in directories()]})]
Named = Annotated[str, Field(min_length=1, max_length=256)]
Reason = Annotated[str, Field(min_length=1, max_length=4000, pattern=r"\S")]


def _no_longer_than_an_address(value: dict[str, Any]) -> dict[str, Any]:
    if problem := recipient.length_problem(value):
        raise ValueError(problem)
    return value


Recipient = Annotated[dict[str, Any], AfterValidator(_no_longer_than_an_address)]


class NoticeDraftIn(RequestBody):
    private: ClassVar = frozenset({"recipient"})

    pack: PackId | None = None
    recipient: Recipient = {}


class StatementItem(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    statement: str
    source: Annotated[str, Field(max_length=MOST_SOURCE)]


class NoticeContent(BaseModel):
    """The content properties to replace; those left out stay, and there are no others."""

    model_config = ConfigDict(strict=True, extra="forbid")

    title: str = ""
    decision_summary: Annotated[list[StatementItem], FailFast()] = []
    role_of_automated_system: Annotated[list[StatementItem], FailFast()] = []
    main_factors: Annotated[list[StatementItem], FailFast()] = []
    inputs_used: Annotated[list[StatementItem], FailFast()] = []
    how_to_request_inputs: str = ""
    rights: Annotated[list[str], FailFast()] = []
    human_review_available: bool = False
    how_to_request_review: str = ""
    deadline_note: str = ""
    framework: str = ""
    language: str = ""


class NoticeEditIn(RequestBody):
    private: ClassVar = frozenset({"content"})

    content: NoticeContent


class RecipientIn(RequestBody):
    """The addressee: `name`, `address`, `email`, `reference` and `language` are used where they are there. Name and
    address have at most 8 lines of 80 characters, both together. After the approval only they and `email` change."""

    private: ClassVar = frozenset({"recipient"})

    recipient: Recipient


class NotApplicableIn(RequestBody):
    """`elements` names those of the checklist that do not apply to this notice, each with the reason."""

    private: ClassVar = frozenset({"elements"})

    elements: dict[str, Reason]


class NoticeApproveIn(RequestBody):
    """`revision` is the one that was read. Without it the current one is approved, marked as *words not named*."""

    private: ClassVar = frozenset({"comment"})

    approver: Annotated[str, Field(max_length=300)] = ""
    authority: Annotated[str, Field(max_length=256)] = ""
    comment: str = ""
    revision: Annotated[int, WHOLE] | None = None


class ChangesIn(RequestBody):
    private: ClassVar = frozenset({"reason"})

    reason: Reason
    revision: Annotated[int, WHOLE] | None = None


class ReasonIn(RequestBody):
    private: ClassVar = frozenset({"reason"})

    reason: Reason


class DeliveryIn(RequestBody):
    private: ClassVar = frozenset({"address", "reference"})

    channel: Literal["email", "post", "portal", "hand"]
    address: Annotated[str, Field(max_length=1000)] = ""
    reference: Annotated[str, Field(max_length=200)] = ""
    delivered_at: MomentInBody | None = None


class GrantIn(RequestBody):
    """`email` is a member's; no `packs` means all, no `valid_to` until it is revoked."""

    email: Named
    authority: Named
    packs: Annotated[list[PackId], FailFast()] = []
    valid_from: DayInBody
    valid_to: DayInBody | None = None
    evidence: Annotated[str, Field(max_length=4000)] = ""


class NoticeQuery(Page):
    """Filters of the list of notices."""

    state: Text | None = None
    pack: Text | None = None
    decision_id: Text | None = None
    due: Annotated[
        Literal["overdue", "at_risk"] | None, Field(description="Not delivered, and late or soon to be.")
    ] = None


class HistoryQuery(Page):
    limit: Annotated[int, Field(ge=1, le=50, description="Revisions and steps a page, as many of each.")] = 20


class ReviewRequestQuery(Page):
    state: Literal["open", "answered", "closed"] | None = None


class LetterQuery(QueryString):
    format: Annotated[
        Literal["html", "pdf", "text", "proof"],
        Field(description="`proof` is the file that the field proofs are checked with; only approved notices have it."),
    ] = "html"
    paper: Annotated[Literal["a4", "letter"], Field(description="Size of a PDF.")] = "a4"


class NoticeSettingsIn(RequestBody):
    """`placeholders` are the names and addresses that the packs' texts need; `GET /v1/packs` names them."""

    default_pack: PackId
    placeholders: dict[str, str] = {}
    require_grants: bool = False
    require_other_key: bool = False
    at_risk_days: Annotated[int, Field(ge=0, le=365), WHOLE] = 7


class NoticeSettingsOut(Answer):
    default_pack: str
    placeholders: dict[str, str]
    require_grants: bool
    require_other_key: bool
    at_risk_days: int


class NoticeSummary(Answer):
    notice_id: str
    decision_id: str
    state: str
    pack: str
    pack_version: str
    language: str
    due_at: str | None
    holder: str | None
    supersedes: str | None
    created_at: str
    created_by: str


class NoticeList(Answer):
    items: list[NoticeSummary]
    next_cursor: str | None


class ChecklistItem(Answer):
    id: str
    label: str
    where: str
    result: str
    citation: str
    authority: str
    blocks: bool
    reason: str


class CitationOut(Answer):
    source: str
    resolves: bool
    value: Any
    changed: bool


class DeadlineOut(Answer):
    clock: str
    pack: str
    authority: str
    citation: str
    trigger: str
    triggered_at: str
    assumed: bool
    due_at: str
    arithmetic: str


class ApprovalOut(Answer):
    approver: str
    authority: str
    basis: str
    grant_id: str | None
    verified: bool
    words_named: bool | None
    remark: str
    approved_at: str
    revision: int


class ReadabilityOut(Answer):
    words: int
    sentences: int
    words_per_sentence: float
    longest: int
    flesch: float | None


class Checked(Answer):
    """A notice against its record and its pack."""

    elements: list[ChecklistItem]
    citations: list[CitationOut]
    problems: list[str]
    deadline: DeadlineOut | None
    deadlines: list[DeadlineOut]
    fault: str | None


class NoticeOut(NoticeSummary, Checked):
    recipient: dict[str, Any]
    revision: int
    content: dict[str, Any]
    readability: ReadabilityOut
    approval: ApprovalOut | None
    delivered_at: str | None
    custody_record_id: str | None
    letter_digest: str | None
    public_address: str | None


class ChecklistOut(Checked):
    notice_id: str
    revision: int


class RevisionOut(Answer):
    revision: int
    digest: str
    content: dict[str, Any]
    not_applicable: dict[str, str]
    author: str
    created_at: str


class StepOut(Answer):
    kind: str
    revision: int
    by: str
    reason: str
    at: str


class HistoryOut(Answer):
    notice_id: str
    revisions: list[RevisionOut]
    steps: list[StepOut]
    next_cursor: str | None


class DeliveryOut(Answer):
    delivery_id: str
    channel: str
    address: str
    reference: str
    letter_digest: str | None
    recorded_by: str
    recorded_at: str
    delivered_at: str | None
    returned_at: str | None
    returned_because: str


class DeliveryList(Answer):
    items: list[DeliveryOut]


class GrantOut(Answer):
    grant_id: str
    email: str
    authority: str
    packs: list[str]
    valid_from: str
    valid_to: str | None
    evidence: str
    granted_by: str
    created_at: str
    revoked_at: str | None


class GrantList(Answer):
    items: list[GrantOut]
    next_cursor: str | None


class ReviewRequestOut(Answer):
    review_request_id: str
    notice_id: str
    decision_id: str
    state: str
    received_at: str
    due_at: str | None
    closed_at: str | None
    closed_by: str
    closed_because: str


class ReviewRequestDetail(ReviewRequestOut):
    message: str
    email: str


class ReviewRequestList(Answer):
    items: list[ReviewRequestOut]
    next_cursor: str | None


class SourceOut(Answer):
    citation: str
    url: str
    quote: str
    read_on: str
    reading: str


class PackOut(Answer):
    pack: str
    version: str
    digest: str
    framework: str
    legal_status: str
    effective_from: str
    effective_to: str | None
    languages: list[str]
    retention_days: int
    placeholders: list[str]
    sources: list[SourceOut]


class PackList(Answer):
    items: list[PackOut]
