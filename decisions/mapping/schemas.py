from datetime import date
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, AliasPath, BaseModel, ConfigDict, Field, model_validator

from config.http.schemas import Answer, Id, RequestBody
from config.http.timestamps import Timestamp
from config.visible_text import Visible
from custody.sealing import field_paths
from decisions.mapping import selection
from decisions.mapping.exchange.declarations import MAX_DOCUMENT
from decisions.mapping.exchange.importing import Format
from decisions.mapping.models import MAX_NAME
from decisions.record import patterns
from decisions.record.meanings import MAX_ENTRIES, Entry, Language
from decisions.record.walk import DuplicatePattern, Table, TooManyFilters
from decisions.records import RecordIn

MAX_SAMPLES = 1000


def _matchable(entries: list[Entry]) -> list[Entry]:
    try:
        Table(entries)
    except (DuplicatePattern, TooManyFilters) as error:
        raise ValueError(str(error)) from None
    return entries


def _range(text: str) -> str:
    if not selection.is_range(text):
        raise ValueError("a range of versions is written like >=4,<5")
    return text


def _path(text: str) -> str:
    try:
        field_paths.keys(text)
    except field_paths.NoSuchField:
        raise ValueError("not a path of a field") from None
    return text


def _place(text: str) -> str:
    pattern = patterns.parse(text) if text else None
    if pattern and (pattern.is_deep or any(step.filter for step in pattern.steps)):
        raise ValueError("a place has only keys and *")
    return text


Place = Annotated[str, Field(max_length=256), AfterValidator(_place)]
"""The pattern of an object or list of a record, or "" for its top."""
Entries = Annotated[list[Entry], Field(min_length=1, max_length=MAX_ENTRIES), AfterValidator(_matchable)]


class VersionIn(RequestBody):
    """The entries of a new version, in order: all of them, not only those that change."""

    entries: Entries


class SelectionIn(RequestBody):
    """A mapping's name, and the records that it applies to: those of a system (`system_name`, within the range
    `system_versions`), else those of a `source`, else those in which the field `field_path` has the text
    `field_value`."""

    name: Annotated[Visible, Field(max_length=MAX_NAME)]
    system_name: Annotated[str, Field(max_length=256)] = ""
    system_versions: Annotated[str, Field(max_length=128), AfterValidator(_range)] = ""
    source: Annotated[str, Field(max_length=128)] = ""
    field_path: Annotated[str, Field(max_length=1024), AfterValidator(_path)] = ""
    field_value: Annotated[str, Field(max_length=256)] = ""

    @model_validator(mode="after")
    def _selects(self) -> "SelectionIn":
        if not (self.system_name or self.source or self.field_path):
            raise ValueError("name the records it applies to: system_name, source, or field_path")
        if self.system_versions and not self.system_name:
            raise ValueError("system_versions needs a system_name")
        return self


class MappingIn(VersionIn, SelectionIn):
    """A mapping with the entries of its first version."""


class ReadyIn(SelectionIn):
    """A mapping whose first version is a ready one. `below` is the place of the system's output in your records, `""`
    for their top, if it is not the usual one."""

    below: Place | None = None


class ConfirmationIn(RequestBody):
    """The number of the version that was read, which has to be the newest."""

    version: Annotated[int, Field(ge=1)]


class ReadyOut(Answer):
    """A ready mapping, with its entries for records that have the system's output at the place `below`."""

    name: str
    title: str
    version: str
    source: list[str]
    licence: str
    below: str
    notes: str
    entries: list[Entry]


class ReadyList(Answer):
    items: list[ReadyOut]


class VersionOut(Answer):
    version: int = Field(validation_alias="number")
    digest: str
    entries: list[dict[str, Any]]
    created_at: Timestamp
    created_by: str = Field(validation_alias="author_label")
    confirmed_at: Timestamp | None
    confirmed_by: str
    is_confirmed_alone: bool


class MappingOut(Answer):
    """`version` is the newest. Drafts use the newest that is confirmed."""

    mapping_id: Id = Field(validation_alias="pk")
    name: str
    system_name: str
    system_versions: str
    source: str
    field_path: str
    field_value: str
    created_at: Timestamp


class MappingDetail(MappingOut):
    versions: list[VersionOut]


class MappingList(Answer):
    items: list[MappingOut]
    next_cursor: str | None


class ReadingIn(RequestBody):
    """A record, and the entries to read it by. Without entries, the mapping that applies to it reads it."""

    private: ClassVar = frozenset({"record"})
    record_in: ClassVar = "record"

    record: RecordIn
    entries: Entries | None = None


class ProposalIn(RequestBody):
    """Sample records to propose from: 20 or more show more than one. Or the name of a system whose newest records in
    custody are the samples."""

    private: ClassVar = frozenset({"records"})
    record_in: ClassVar = "records"

    records: Annotated[list[RecordIn], Field(max_length=MAX_SAMPLES)] = []
    system_name: Annotated[str, Field(max_length=256)] = ""

    @model_validator(mode="after")
    def _has_samples(self) -> "ProposalIn":
        if bool(self.records) == bool(self.system_name):
            raise ValueError("send sample records, or the name of a system")
        return self


class ProposalOut(Answer):
    """`entry` is null where only a person can say what the field means. `examples` are masked: x for a letter, 9 for a
    digit. `label` and `codes` are those of an imported document."""

    path: str = Field(validation_alias=AliasPath("field", "path"))
    entry: dict[str, Any] | None
    why: str
    question: str
    label: dict[str, str] = Field(validation_alias=AliasPath("field", "label"))
    codes: dict[str, dict[str, str]] = Field(validation_alias=AliasPath("field", "words"))
    records: int = Field(validation_alias=AliasPath("field", "records"))
    type: str = Field(validation_alias=AliasPath("field", "kind"))
    examples: list[str] = Field(validation_alias=AliasPath("field", "examples"))


class ProposalList(Answer):
    """Proposals, those with a question first. `samples` is the number of records that they rest on."""

    samples: int
    items: list[ProposalOut]


Column = Annotated[str, Field(max_length=256)]


class ColumnsIn(BaseModel):
    """The names of a table's columns: the field's path, its label or description, and a code with its meaning."""

    model_config = ConfigDict(strict=True, extra="forbid")

    path: Annotated[str, Field(min_length=1, max_length=256)]
    label: Column = ""
    description: Column = ""
    code: Column = ""
    meaning: Column = ""


class ImportIn(RequestBody):
    """A document that declares fields, as text: a data contract (`odcs`, YAML or JSON), the `csv` of a data dictionary
    with the names of its `columns`, or a `json_schema`.

    `below` is the place of its fields in your records, if that is not the top: `outcome`, or the `original` of a
    connector. `object` names the schema object of a contract that has several.
    """

    private: ClassVar = frozenset({"document"})

    format: Format
    document: Annotated[str, Field(min_length=1, max_length=MAX_DOCUMENT)]
    below: Place = ""
    object: Annotated[str, Field(max_length=256)] = ""
    language: Language = "en"
    columns: ColumnsIn | None = None


class ContractOut(Answer):
    """A version of a mapping in the Open Data Contract Standard 3.2. JSON is YAML, so the answer can be saved as a
    contract's file."""

    model_config = ConfigDict(populate_by_name=True)

    api_version: str = Field(alias="apiVersion")
    kind: str
    id: str
    name: str
    version: str
    status: str
    objects: list[dict[str, Any]] = Field(alias="schema")
    custom_properties: list[dict[str, Any]] = Field(alias="customProperties")


class UnknownFieldOut(Answer):
    """A field or code in new records that the confirmed mapping does not explain. `records` had it between the days
    `first` and `last`; the newest records of each minute are looked at. `example` is masked."""

    path: str
    problem: str
    example: str
    records: int = Field(validation_alias="total")
    first: date
    last: date


class UnknownFieldList(Answer):
    items: list[UnknownFieldOut]


class SaidOut(Answer):
    """A value of the record, in the words of `decode` if it was decoded."""

    path: str = Field(validation_alias=AliasPath("origin", "path"))
    means: str = Field(validation_alias=AliasPath("origin", "meaning"))
    stored: Any = Field(validation_alias=AliasPath("origin", "stored"))
    decode: str = Field(validation_alias=AliasPath("origin", "decode"))


class WithheldOut(Answer):
    path: str
    because: str


class UnknownOut(Answer):
    path: str
    general: str
    problem: str


class ReadingOut(Answer):
    """`values` are the fields that a letter may cite; `unknown` and `unmapped` those that no one has explained."""

    mapping_id: Id | None
    version: int | None
    values: list[SaidOut]
    withheld: list[WithheldOut]
    unknown: list[UnknownOut]
    unmapped: list[str]
