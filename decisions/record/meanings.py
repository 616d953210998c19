"""Entries of a mapping: what one field of a system's records means, as a person confirmed it."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from config.visible_text import Visible
from decisions.record import patterns

MAX_ENTRIES = 500
MAX_VALUES = 2000  # codes of one field

Meaning = Literal[
    "decision", "object", "object.amount",
    "reason", "factor",
    "amount", "rate", "number", "date", "term", "flag",
    "offer.amount", "offer.rate", "offer.term", "offer.until", "offer.text",
    "condition", "consequence", "missing",
    "input",
    "person", "reference", "jurisdiction", "language",
    "system.name", "system.version", "system.provider", "system.purpose",
    "automation", "human", "approval.person", "approval.authority",
    "review.until", "review.how",
    "received", "completed", "decided", "effective",
    "profile",
    "not_told",
]  # fmt: skip
OutcomeKind = Literal[
    "approved", "accepted", "granted", "not_denied", "partially_approved", "conditionally_approved", "counteroffer",
    "denied", "rejected", "declined", "reduced", "ended", "not_renewed", "suspended",
    "shortlisted", "not_shortlisted", "passed", "failed", "invalidated",
    "referred", "pending", "waitlisted", "incomplete", "closed_for_incompleteness", "withdrawn",
    "upheld", "modified", "overturned",
]  # fmt: skip
Relation = Literal["equivalent", "broader", "narrower", "not-related-to"]
"""How a code and its words relate, as in a FHIR R5 ConceptMap."""
WithheldClass = Literal["internal", "secret", "protected", "other_person"]
Source = Literal["builtin", "ready", "proposed", "own"]

AMOUNTS = ("amount", "object.amount", "offer.amount")
RATES = ("rate", "offer.rate")
DATES = ("date", "offer.until", "review.until", "received", "completed", "decided", "effective")
TERMS = ("term", "offer.term")
TERM_UNITS = ("days", "weeks", "months", "years")
TEXTS = ("object", "reason", "factor", "flag", "automation", "human", "condition", "consequence", "missing")
NEEDS = {
    "label": ("input",),
    "as_": ("profile",),
    "values": ("decision",),
    "currency": AMOUNTS,
    "scale": RATES,
    "unit": TERMS,
    "class_": ("not_told",),
}
"""The meanings that need an option."""
_TAKES = {
    "values": ("decision", *TEXTS),
    "unmapped": ("decision", *TEXTS),
    "currency": AMOUNTS,
    "scale": (*AMOUNTS, *RATES),
    "epoch": DATES,
    "notation": DATES,
    "unit": (*TERMS, "number", "factor"),
    "value": ("factor",),
    "direction": ("factor",),
    "show": ("input",),
    "as_": ("profile",),
    "class_": ("not_told",),
}
"""The meanings that take an option. `label`, `source` and `why` belong to all."""
_SCALES = {
    **dict.fromkeys(AMOUNTS, ("units", "minor")),
    **dict.fromkeys(RATES, ("fraction", "percent", "basis_points")),
}


def _pattern(text: str) -> str:
    patterns.parse(text)  # its InvalidPattern is a ValueError
    return text


PatternText = Annotated[str, Field(min_length=1, max_length=patterns.MAX_PATTERN), AfterValidator(_pattern)]
Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(-[A-Z]{2})?$")]
Words = Annotated[Visible, Field(min_length=1, max_length=2000)]
Label = Annotated[Visible, Field(min_length=1, max_length=256)]
Place = Annotated[str, Field(pattern=r"^([A-Z]{3}|\..+|[a-z_].*)$", max_length=patterns.MAX_PATTERN)]
ProfilePath = Annotated[
    str,
    Field(
        pattern=r"^(decided_at|decision_id|(subject|system|events|outcome|approval|reconsiders)(\.[A-Za-z_][A-Za-z0-9_]*)+)$",
        max_length=256,
    ),
]
Sibling = Annotated[str, Field(pattern=r"^\..+$", max_length=patterns.MAX_PATTERN)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", populate_by_name=True)


class Value(_Part):
    """The meaning of a code: the kind of outcome, or its words in each language, such as `"en"`."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[Language, Words]

    outcome: OutcomeKind | None = None
    relation: Relation

    @property
    def words(self) -> dict[str, str]:
        """The words by language."""
        return self.__pydantic_extra__


class Entry(_Part):
    """The meaning of the fields that a path pattern names.

    Attributes:
        values: the meaning of each code, by the code as text. `unmapped` says what a code without a value does.
        currency: an ISO 4217 code, or the path of the field that has it; `.code` is a field beside this one.
        scale: what the stored number counts. A rate has no default, because 0.135 may be 13.5 % or 0.135 %.
        epoch: the unit of a date that is a number, counted from 1970-01-01 UTC.
        notation: how a day is written that is a text.
        unit: the unit of a term, or the words for that of a number.
        value, direction: fields beside a factor: what was measured, and whether it counted for or against the person.
        show: whether a letter names an input by its label, or tells its value too.
        as_: the field of the published profile that this field is, for what a pack asks by name: `outcome.score`.
        class_: why a field is not told.
        source, why: where the entry is from, and the reason its proposer gave.
    """

    path: PatternText
    means: Meaning
    label: dict[Language, Label] = {}
    values: Annotated[dict[str, Value], Field(max_length=MAX_VALUES)] = {}
    unmapped: Literal["block", "as_written"] = "block"
    currency: Place | None = None
    scale: Literal["units", "minor", "fraction", "percent", "basis_points"] | None = None
    epoch: Literal["seconds", "milliseconds"] | None = None
    notation: Literal["iso", "month_first", "day_first", "compact"] = "iso"
    unit: Annotated[Visible, Field(min_length=1, max_length=64)] | None = None
    value: Sibling | None = None
    direction: Sibling | None = None
    show: Literal["label", "value"] = "label"
    as_: Annotated[ProfilePath | None, Field(alias="as")] = None
    class_: Annotated[WithheldClass | None, Field(alias="class")] = None
    source: Source = "own"
    why: Annotated[Visible, Field(max_length=500)] = ""

    @model_validator(mode="after")
    def _fits(self) -> "Entry":
        """Refuse an entry that lacks an option of its meaning, or has one of another meaning."""
        for option, meanings in NEEDS.items():
            is_told_as_written = option == "values" and self.unmapped == "as_written"
            if self.means in meanings and not getattr(self, option) and not is_told_as_written:
                raise ValueError(f"`{self.means}` needs `{option.strip('_')}`")
        for option in self.model_fields_set & _TAKES.keys():
            if self.means not in _TAKES[option]:
                raise ValueError(f"`{self.means}` takes no `{option.strip('_')}`")
        if self.scale and self.scale not in _SCALES[self.means]:
            raise ValueError(f"the `scale` of `{self.means}` is {' or '.join(_SCALES[self.means])}")
        if self.means in TERMS and self.unit not in TERM_UNITS:
            raise ValueError(f"the `unit` of `{self.means}` is {', '.join(TERM_UNITS)}")
        for value in self.values.values():
            if bool(value.outcome) != (self.means == "decision"):
                raise ValueError("each value of a `decision` has an `outcome`, and no other value has one")
        return self
