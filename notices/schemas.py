from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, AliasPath, BaseModel, BeforeValidator, ConfigDict, FailFast, Field

from accounts.models import Member
from accounts.schemas import LooseningOut
from config.http.cursors import Page
from config.http.numbers import WHOLE
from config.http.schemas import SAME_OBJECT, Answer, Id, QueryString, RequestBody, Text, TextOrNull
from config.http.timestamps import Day, DayInBody, MomentInBody, Timestamp
from config.visible_text import Visible
from decisions.records import RecordIn
from notices.letters import recipient
from notices.models import NoticeRevision
from notices.packs import directories
from notices.record_paths import MAX_SOURCE
from notices.sensitive import MAX_FIELD_NAME, MAX_FIELD_NAMES

PackId = Annotated[str, Field(json_schema_extra={"enum": [path.name for path in directories()]})]
Named = Annotated[Visible, Field(min_length=1, max_length=256)]
WarningId = Annotated[str, Field(min_length=1, max_length=64)]
Reason = Annotated[Visible, Field(min_length=1, max_length=4000)]


def _no_longer_than_an_address(value: dict[str, Any]) -> dict[str, Any]:
    if problem := recipient.length_problem(value):
        raise ValueError(problem)
    return value


Recipient = Annotated[dict[str, Any], AfterValidator(_no_longer_than_an_address)]


class _DraftIn(RequestBody):
    private: ClassVar = frozenset({"recipient"})

    pack: PackId | None = None
    recipient: Recipient = {}


class NoticeDraftIn(_DraftIn):
    """For a notice about a reconsideration, `review_request_id` may name the request for review that it answers, from
    `to_be_told` in the answer to the reconsideration. The letter then goes to the person who made that request."""

    review_request_id: Annotated[str, Field(pattern="^[0-9]{1,18}$")] | None = None


LetterFormat = Literal["text", "html"]


class NoticePreviewIn(_DraftIn):
    """A draft's body, with the `record` to preview. `language` is one of the pack's, and defaults to the recipient's or
    the person's in the record. `format` is that of the letter in the answer."""

    private: ClassVar = frozenset({"record", "recipient"})
    record_in: ClassVar = "record"

    record: RecordIn
    language: Annotated[str, Field(max_length=64)] | None = None
    format: LetterFormat = "text"


class StatementItem(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    statement: str
    source: Annotated[str, Field(max_length=MAX_SOURCE)]


class NoticeContent(BaseModel):
    """The content properties to replace. Omitted properties do not change; other names are refused."""

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
    """The recipient: `name`, `address`, `email`, `reference` and `language` are used if present. Name and address have
    together at most 8 lines of 80 characters. After the approval only these two and `email` can change."""

    private: ClassVar = frozenset({"recipient"})

    recipient: Recipient


class NotApplicableIn(RequestBody):
    """`elements` are the elements of the checklist that do not apply to this notice, each with the reason."""

    private: ClassVar = frozenset({"elements"})

    elements: dict[str, Reason]


class NoticeApproveIn(RequestBody):
    """`revision` is the revision that the approver read. Without it the current one is approved, marked as *words not
    named*. `acknowledge` has the ids of all `warnings` of the notice. An advisory pack such as `general` needs none,
    unless the organization requires them."""

    private: ClassVar = frozenset({"comment"})

    approver: Annotated[str, Field(max_length=300)] = ""
    authority: Annotated[str, Field(max_length=256)] = ""
    comment: str = ""
    revision: Annotated[int, WHOLE] | None = None
    acknowledge: Annotated[list[WarningId], FailFast(), Field(max_length=2000)] = []


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
        Literal["overdue", "at_risk"] | None, Field(description="Not delivered, and late or nearly due.")
    ] = None


class HistoryQuery(Page):
    limit: Annotated[int, Field(ge=1, le=50, description="Maximum number of revisions, and of steps, on a page.")] = 20


class ReviewRequestQuery(Page):
    state: Literal["open", "to_be_told", "answered", "closed"] | None = None


class LetterQuery(QueryString):
    format: Annotated[
        Literal["html", "pdf", "text", "proof"],
        Field(description="`proof` is the file with the proofs of the cited fields; only approved notices have it."),
    ] = "html"
    paper: Annotated[Literal["a4", "letter"], Field(description="Size of a PDF.")] = "a4"


FieldName = Annotated[
    str, Field(min_length=1, max_length=MAX_FIELD_NAME, pattern=r"^[^\x00-\x1f]*[^\W_][^\x00-\x1f]*$")
]
SignatureLine = Annotated[str, Field(max_length=recipient.MAX_WIDTH, pattern=r"^[^\x00-\x1f\x7f]*$")]


class Signatory(RequestBody):
    """The signatory of letters. Omitted lines are not printed."""

    model_config = ConfigDict(strict=True, extra="forbid")

    name: SignatureLine = ""
    function: SignatureLine = ""
    telephone: SignatureLine = ""


class NoticeSettingsIn(RequestBody):
    """`placeholders` are the names and addresses that the packs' texts need; `GET /v1/packs` lists them. Letters
    withhold `sensitive_fields` in addition to the default list, and print `printable_fields` of the default list.
    Omitted properties do not change. The `require_` settings are guards of four eyes: only an owner who signed in with
    a second factor changes them, and a key may only repeat the present value. Loosening one takes 24 hours."""

    default_pack: PackId | None = None
    placeholders: dict[str, str] | None = None
    require_grants: bool | None = None
    require_other_key: bool | None = None
    require_acknowledged: bool | None = None
    at_risk_days: Annotated[int, Field(ge=0, le=365), WHOLE] | None = None
    sensitive_fields: Annotated[list[FieldName], Field(max_length=MAX_FIELD_NAMES)] | None = None
    printable_fields: Annotated[list[FieldName], Field(max_length=MAX_FIELD_NAMES)] | None = None
    signatory: Signatory | None = None


class NoticeSettingsOut(Answer):
    """`loosenings` take effect at `takes_effect_at`. An owner cancels one by sending the present value."""

    default_pack: str
    placeholders: dict[str, str]
    require_grants: bool
    require_other_key: bool
    require_acknowledged: bool
    at_risk_days: int
    sensitive_fields: list[str]
    printable_fields: list[str]
    signatory: dict[str, str]
    loosenings: list[LooseningOut]


def _mail_address(member: Member | None) -> str | None:
    return member.user.email if member else None


class NoticeSummary(Answer):
    notice_id: Id = Field(validation_alias="pk")
    decision_id: str = Field(validation_alias=AliasPath("decision", "decision_id"))
    state: str
    pack: str
    pack_version: str
    language: str
    due_at: Timestamp | None
    holder: Annotated[str | None, BeforeValidator(_mail_address)]
    supersedes: Id | None = Field(validation_alias="supersedes_id")
    created_at: Timestamp
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


class WarningOut(Answer):
    """`where` is the path of the warning's subject in the content, such as `main_factors.0`."""

    id: str
    sentence: str
    where: str


class UntoldOut(Answer):
    """A field below `outcome` that no statement cites. `blocks`: a reason, condition or term that the letter needs."""

    path: str
    kind: str
    blocks: bool


class ProposedOut(Answer):
    """A field that no one has explained. `entry` is ready for a mapping; null where only a person can say it."""

    path: str
    entry: dict[str, Any] | None
    why: str
    question: str


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
    """`open_warnings` were not acknowledged at the approval, which only an advisory pack allows."""

    approver: str
    authority: str
    basis: str
    grant_id: str | None
    verified: bool
    words_named: bool | None
    remark: str
    acknowledged: list[WarningOut] | None
    open_warnings: list[WarningOut] | None
    approved_at: str
    revision: int


class Counted(Answer):
    words: int
    sentences: int
    words_per_sentence: float
    longest: int
    flesch: float | None


class ReadabilityOut(Counted):
    """Readability of the whole notice, and of the notice without the texts that its pack prescribes."""

    without_prescribed: Counted


class Checked(Answer):
    """A notice against its record and its pack."""

    elements: list[ChecklistItem]
    citations: list[CitationOut]
    problems: list[str]
    warnings: list[WarningOut]
    untold: list[UntoldOut]
    proposals: list[ProposedOut]
    deadline: DeadlineOut | None
    deadlines: list[DeadlineOut]
    fault: str | None


class NoticeOut(NoticeSummary, Checked):
    """`answers` are the requests for review whose outcome the notice tells, or has told."""

    recipient: dict[str, Any]
    revision: int
    content: dict[str, Any]
    readability: ReadabilityOut
    approval: ApprovalOut | None
    delivered_at: str | None
    custody_record_id: str | None
    letter_digest: str | None
    public_address: str | None
    answers: list[str]


class NoticePreviewOut(Checked):
    """A notice that is not stored. `letter` is the whole letter in `format`."""

    decision_id: str
    pack: str
    pack_version: str
    language: str
    content: dict[str, Any]
    readability: ReadabilityOut
    format: str
    letter: str


class ChecklistOut(Checked):
    notice_id: str
    revision: int


def _author(revision: NoticeRevision) -> str:
    return f"{revision.author_kind} {revision.author_label}"


class RevisionOut(Answer):
    revision: int = Field(validation_alias="number")
    digest: str
    content: dict[str, Any]
    not_applicable: dict[str, str]
    author: Annotated[str, BeforeValidator(_author)] = Field(validation_alias=SAME_OBJECT)
    created_at: Timestamp


class StepOut(Answer):
    kind: str
    revision: int = Field(validation_alias=AliasPath("revision", "number"))
    by: str = Field(validation_alias="actor_label")
    reason: str
    at: Timestamp = Field(validation_alias="created_at")


class HistoryOut(Answer):
    notice_id: str
    revisions: list[RevisionOut]
    steps: list[StepOut]
    next_cursor: str | None


class DeliveryOut(Answer):
    delivery_id: Id = Field(validation_alias="pk")
    channel: str
    address: str
    reference: str
    letter_digest: TextOrNull
    recorded_by: str
    recorded_at: Timestamp = Field(validation_alias="created_at")
    delivered_at: Timestamp | None
    returned_at: Timestamp | None
    returned_because: str


class DeliveryList(Answer):
    items: list[DeliveryOut]


class GrantOut(Answer):
    grant_id: Id = Field(validation_alias="pk")
    email: str = Field(validation_alias=AliasPath("user", "email"))
    authority: str
    packs: list[str]
    valid_from: Day
    valid_to: Day | None
    evidence: str
    granted_by: str
    created_at: Timestamp
    revoked_at: Timestamp | None


class GrantList(Answer):
    items: list[GrantOut]
    next_cursor: str | None


class ReviewRequestOut(Answer):
    """`open` until a reconsideration is recorded, `to_be_told` until a letter about it is delivered, then `answered`;
    or `closed` with a reason. `answered_by` is the reconsideration's decision id, `told_by` the id of that letter."""

    review_request_id: Id = Field(validation_alias="pk")
    notice_id: Id
    decision_id: str = Field(validation_alias=AliasPath("notice", "decision", "decision_id"))
    state: str
    received_at: Timestamp
    due_at: Timestamp | None
    answered_at: Timestamp | None
    answered_by: str | None
    told_at: Timestamp | None
    told_by: Id | None = Field(validation_alias="told_by_id")
    closed_at: Timestamp | None
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
    read_on: Day
    reading: str


class PackOut(Answer):
    pack: str = Field(validation_alias="id")
    version: str
    digest: str
    framework: str
    legal_status: str
    advisory: bool
    effective_from: Day
    effective_to: Day | None
    languages: list[str]
    retention_days: int
    placeholders: list[str] = Field(validation_alias="settings")
    sources: list[SourceOut]


class PackList(Answer):
    items: list[PackOut]
