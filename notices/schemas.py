from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from config.api.pagination import Page
from config.api.views import Answer, RequestBody
from notices.packs import directories

PackId = Annotated[str, Field(json_schema_extra={"enum": [path.name for path in directories()]})]


class NoticeDraftIn(RequestBody):
    private: ClassVar = frozenset({"recipient"})

    pack: PackId | None = None
    recipient: dict[str, Any] = {}


class StatementItem(BaseModel):
    model_config = ConfigDict(strict=True)

    statement: str
    source: str


class NoticeContent(BaseModel):
    """The content properties to replace; those left out stay."""

    model_config = ConfigDict(strict=True)

    title: str = ""
    decision_summary: list[StatementItem] = []
    role_of_automated_system: list[StatementItem] = []
    main_factors: list[StatementItem] = []
    inputs_used: list[StatementItem] = []
    how_to_request_inputs: str = ""
    rights: list[str] = []
    human_review_available: bool = False
    how_to_request_review: str = ""
    deadline_note: str = ""
    framework: str = ""
    language: str = ""


class NoticeEditIn(RequestBody):
    private: ClassVar = frozenset({"content"})

    content: NoticeContent


class NoticeApproveIn(RequestBody):
    private: ClassVar = frozenset({"comment"})

    approver: str = ""
    authority: str = ""
    comment: str = ""
    revision: int | None = None


Text = Annotated[str, Field(max_length=256, pattern="^[^\\x00]*$")]


class NoticeQuery(Page):
    """Filters of the list of notices."""

    state: Text | None = None
    pack: Text | None = None
    decision_id: Text | None = None


class NoticeSettingsIn(RequestBody):
    """`placeholders` are the names and addresses that the packs' texts need; `GET /v1/packs` names them."""

    default_pack: PackId
    placeholders: dict[str, str] = {}


class NoticeSettingsOut(Answer):
    default_pack: str
    placeholders: dict[str, str]


class NoticeSummary(Answer):
    notice_id: str
    decision_id: str
    state: str
    pack: str
    pack_version: str
    language: str
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


class CitationOut(Answer):
    source: str
    resolves: bool
    value: Any
    changed: bool


class ApprovalOut(Answer):
    approver: str
    authority: str
    basis: str
    approved_at: str
    revision: int


class NoticeOut(NoticeSummary):
    revision: int
    content: dict[str, Any]
    elements: list[ChecklistItem]
    citations: list[CitationOut]
    approval: ApprovalOut | None
    custody_record_id: str | None


class PackOut(Answer):
    pack: str
    version: str
    digest: str
    framework: str
    legal_status: str
    effective_from: str
    languages: list[str]
    retention_days: int
    placeholders: list[str]


class PackList(Answer):
    items: list[PackOut]
