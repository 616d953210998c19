"""What a notice pack holds: the law behind a notice as data, and its fixed texts in each language."""

import re
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator, model_validator

from notices.packs import conditions
from notices.packs.conditions import Applicability

STATEMENT_FIELDS: Final = ("decision_summary", "role_of_automated_system", "main_factors", "inputs_used")
COMMON_PLACEHOLDERS: Final = frozenset({"organization", "contact"})
PLACEHOLDER = re.compile(r"\{(\w+)\}")

Where = Literal[
    "title",
    "decision_summary",
    "role_of_automated_system",
    "main_factors",
    "inputs_used",
    "how_to_request_inputs",
    "rights",
    "human_review_available",
    "how_to_request_review",
    "deadline_note",
    "framework",
    "language",
]
Authority = Literal["statute", "rule", "guidance", "draft"]
Check = Literal[
    "nonempty",
    "min_items",
    "max_items",
    "cited",
    "contains_locked_text",
    "forbidden_phrase",
    "is_true",
    "sent_before",
    "readers_language",
]
LegalStatus = Literal["in_force", "enacted", "policy"]
HumanReview = Literal["required", "optional", "not_granted"]
Trigger = Literal[
    "decision_date",
    "application_completed",
    "request_received",
    "access_requested",
    "counteroffer_made",
    "person_informed",
]
Purpose = Literal["notice", "answer", "acknowledgement"]
Unit = Literal["hours", "days", "business_days", "months"]
Reading = Literal["primary", "copy", "secondary", "unconfirmed", "own"]

BINDING: Final = ("statute", "rule")
UNITS: Final[tuple[Unit, ...]] = ("hours", "days", "business_days", "months")

Id = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]
Sentence = Annotated[str, Field(min_length=1)]
Amount = Annotated[int, Field(ge=0, le=3660)]
"""Of hours, days or months: no law gives more than ten years of days, and no date leaves the calendar."""
List = Field(default=(), strict=False)


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class _Conditional(_Part):
    applies: str = conditions.ALWAYS
    _when: Applicability = PrivateAttr()

    @field_validator("applies")
    @classmethod
    def _has_known_form(cls, expression: str) -> str:
        conditions.parse(expression)
        return expression

    def model_post_init(self, context: Any) -> None:
        self._when = conditions.parse(self.applies)

    @property
    def when(self) -> Applicability:
        """`applies`, read."""
        return self._when

    def applies_to(
        self, record: Callable[[str], Any], notice: Mapping[str, Any] | None = None, *, requested: bool = False
    ) -> bool:
        """Tell whether this applies: see `Applicability.holds`."""
        return self._when.holds(record, notice, requested=requested)


class Source(_Part):
    """A text of law or guidance, and how it was read."""

    id: Id
    citation: Sentence
    url: Annotated[str, Field(pattern=r"^(https?://\S+)?$")] = ""
    quote: str = ""
    read_on: date
    reading: Reading
    """`primary`: the official text; `copy`: a public copy of it; `secondary`: what others write about it;
    `unconfirmed`: plausible but not read; `own`: the organization's own policy."""


class Element(_Conditional):
    """One thing a notice must (or should) say or be."""

    id: Id
    where: Where
    authority: Authority
    citation: Sentence
    source: Id
    check: Check
    paths: Annotated[tuple[str, ...], List] = ()
    """Only statements whose source is one of these record paths, or lies below one, count for the check."""
    equals: str | int | bool | None = None
    """With `cited`: the value that the record has at the cited path."""
    value: Annotated[int, Field(ge=1)] | None = None
    locked: Id | None = None
    clock: Id | None = None

    def counts(self, source: str) -> bool:
        """Whether a statement with this source counts for the check."""
        return not self.paths or any(f"{source}.".startswith(f"{path}.") for path in self.paths)

    @model_validator(mode="after")
    def _argument_fits_check(self) -> "Element":
        needed = {
            "min_items": "value",
            "max_items": "value",
            "contains_locked_text": "locked",
            "sent_before": "clock",
        }.get(self.check)
        for name in ("value", "locked", "clock"):
            if (getattr(self, name) is not None) != (name == needed):
                raise ValueError(f"check {self.check!r} {'needs' if name == needed else 'takes no'} {name!r}")
        if self.paths and (self.where not in STATEMENT_FIELDS or self.check not in ("cited", "min_items", "max_items")):
            raise ValueError("'paths' goes with cited, min_items or max_items in a list of statements")
        if "equals" in self.model_fields_set and not (self.check == "cited" and self.paths):
            raise ValueError("'equals' goes with cited and paths")
        return self

    @model_validator(mode="after")
    def _check_fits_field(self) -> "Element":
        fits = {
            "cited": self.where in STATEMENT_FIELDS,
            "min_items": self.where in (*STATEMENT_FIELDS, "rights"),
            "max_items": self.where in (*STATEMENT_FIELDS, "rights"),
            "contains_locked_text": self.where == "rights",
            "is_true": self.where == "human_review_available",
            "readers_language": self.where == "language",
            "nonempty": self.where != "human_review_available",
            "forbidden_phrase": self.where != "human_review_available",
        }.get(self.check, True)
        if not fits:
            raise ValueError(f"check {self.check!r} cannot be made on {self.where!r}")
        return self


class Clock(_Conditional):
    """How long after which fact a notice is due, or an answer to the person who asks."""

    id: Id
    what: Purpose = "notice"
    """What is due. `notice`: the notice itself. `answer`: what the person asked for, such as access or review.
    `acknowledgement`: word that the request came in. The last two run only once the person asks."""
    trigger: Trigger
    hours: Amount | None = None
    days: Amount | None = None
    business_days: Amount | None = None
    months: Amount | None = None
    calendar: Annotated[str, Field(pattern=r"^[A-Z]{2}(-[A-Z0-9]{1,3})?$")] | None = None
    """With `business_days`: the country (ISO 3166-1) or part of one (ISO 3166-2) whose public holidays do not count."""
    authority: Authority
    citation: Sentence
    source: Id

    @field_validator("calendar")
    @classmethod
    def _known_calendar(cls, calendar: str | None) -> str | None:
        if calendar:
            public_holidays(calendar, year=2000)  # a calendar that is known has every year
        return calendar

    @model_validator(mode="after")
    def _one_length(self) -> "Clock":
        if len([unit for unit in UNITS if getattr(self, unit) is not None]) != 1:
            raise ValueError(f"needs exactly one of {', '.join(UNITS)}")
        if (self.calendar is None) != (self.business_days is None):
            raise ValueError("business_days and the calendar of their public holidays go together")
        return self

    @model_validator(mode="after")
    def _can_start(self) -> "Clock":
        if self.what != "notice" and self.trigger != "request_received":
            raise ValueError(f"an {self.what} is due after 'request_received'")
        if self.when.on_request:
            raise ValueError("a clock that starts when the person asks is one of an 'answer' or 'acknowledgement'")
        if any(condition.subject == "notice" for condition in self.when.conditions):
            raise ValueError("a clock runs before there is a notice: it can depend on the record only")
        return self

    @property
    def unit(self) -> Unit:
        return next(unit for unit in UNITS if getattr(self, unit) is not None)

    @property
    def amount(self) -> int:
        return getattr(self, self.unit)  # type: ignore[no-any-return]

    @property
    def length(self) -> str:
        """In English, as in `1 month` or `10 business days`."""
        unit = self.unit.replace("_", " ")
        return f"{self.amount} {unit.removesuffix('s') if self.amount == 1 else unit}"


@lru_cache(maxsize=64)
def public_holidays(calendar: str, year: int) -> frozenset[date]:
    """The public holidays of a year, with the days on which they are observed.

    Args:
        calendar: as in `Clock.calendar`: `US`, `US-CA`.

    Raises:
        ValueError: nobody knows such a calendar.
    """
    import holidays  # 60 ms, spared where no pack counts business days

    country, _, subdivision = calendar.partition("-")
    try:
        return frozenset(holidays.country_holidays(country, subdiv=subdivision or None, years=year))
    except NotImplementedError:
        raise ValueError(f"there is no calendar {calendar!r} of public holidays") from None


class Locked(_Conditional):
    """A text that editors cannot change. It is printed among the rights, with the organization's settings filled in."""

    id: Id
    placeholders: Annotated[tuple[Id, ...], List] = ()
    citation: Sentence


class Text(_Part):
    """A pack's words in one language."""

    framework: Sentence
    title: Sentence
    how_to_request_inputs: Sentence
    how_to_request_review: Sentence
    no_review: str
    deadline_note: str
    rights: Annotated[tuple[Sentence, ...], List]
    withheld: Sentence
    locked: dict[Id, Sentence] = {}
    forbidden: dict[Id, Annotated[tuple[Sentence, ...], Field(strict=False, min_length=1)]] = {}
    labels: dict[Id, Sentence]


def base_language(tag: str) -> str:
    """A language without its region, however people spell it: `de` for `de-AT`, `de_AT` and ` DE`."""
    return tag.strip().replace("_", "-").partition("-")[0].lower()


def placeholders(text: str) -> tuple[str, ...]:
    """The names in braces, in order, each once."""
    return tuple(dict.fromkeys(PLACEHOLDER.findall(text)))


def fill(text: str, settings: Mapping[str, str]) -> str:
    """Put the organization's settings into a text. A placeholder without a value stays in it, in its braces."""
    return PLACEHOLDER.sub(lambda found: settings.get(found[1], "").strip() or found[0], text)


def _can_fill(value: Any) -> bool:
    """Whether a record's value can fill a placeholder: a number, or a text that says something and has no braces."""
    if isinstance(value, str):
        return bool(_on_one_line(value)) and not set(value) & {"{", "}"}
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _on_one_line(value: Any) -> str:
    return " ".join(str(value).replace("\x00", "").split())


class Pack(_Part):
    """Everything the service knows of one law's notices. Its id, version and digest are frozen into each notice."""

    id: Id
    version: Annotated[str, Field(pattern=r"^\d{4}\.\d+$")]
    legal_status: LegalStatus
    effective_from: date
    effective_to: date | None = None
    languages: Annotated[tuple[Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")], ...], List]
    retention_days: Annotated[int, Field(ge=0)]
    retention_source: Id | None = None
    human_review: HumanReview
    sources: Annotated[tuple[Source, ...], List]
    elements: Annotated[tuple[Element, ...], List]
    clocks: Annotated[tuple[Clock, ...], List] = ()
    locked: Annotated[tuple[Locked, ...], List] = ()
    from_record: dict[Id, Annotated[tuple[str, ...], Field(strict=False, min_length=1)]] = {}
    """Record paths that fill a placeholder before the organization's settings do; the first that has a value counts."""
    locales: dict[str, str] = {}
    """The region by whose customs a language writes dates and money, as in `en = "en_GB"`; without one, the language's
    own default."""
    _texts: Mapping[str, Text] = PrivateAttr(default_factory=dict)
    _digest: str = PrivateAttr(default="")

    @property
    def digest(self) -> str:
        """SHA-256, in hex, over the names and bytes of the pack's files."""
        return self._digest

    @property
    def texts(self) -> Mapping[str, Text]:
        return self._texts

    def text(self, language: str) -> Text:
        """The words in one of the pack's languages.

        Raises:
            KeyError: the pack has no such language.
        """
        return self._texts[language]

    @property
    def framework(self) -> str:
        """The law's name as printed, in the pack's first language."""
        return self.text(self.languages[0]).framework

    def language_for(self, *wished: str | None) -> str:
        """The pack's language that fits the first wish it can (`de-AT` gets `de`), else its first language."""
        for wish in filter(None, wished):
            for known in (wish, base_language(wish)):
                if known in self.languages:
                    return known
        return self.languages[0]

    def element(self, element_id: str) -> Element:
        return next(element for element in self.elements if element.id == element_id)

    def clock(self, clock_id: str) -> Clock:
        return next(clock for clock in self.clocks if clock.id == clock_id)

    def source(self, source_id: str) -> Source:
        return next(source for source in self.sources if source.id == source_id)

    def lock(self, locked_id: str) -> Locked:
        return next(locked for locked in self.locked if locked.id == locked_id)

    def locked_texts(self, language: str, record: Callable[[str], Any]) -> tuple[str, ...]:
        """The locked texts that belong into a notice about a record, placeholders still in braces."""
        texts = self.text(language).locked
        return tuple(texts[locked.id] for locked in self.locked if locked.applies_to(record))

    def in_effect(self, on: date) -> bool:
        return self.effective_from <= on and (self.effective_to is None or on <= self.effective_to)

    def blocks(self, element: Element, on: date) -> bool:
        """Whether a notice about a decision of that day may not be approved while the element is missing.

        A maximum is only advice. A notice that is late must still go out, so lateness never blocks either.
        """
        return self.binds(element) and self.legal_status == "in_force" and self.in_effect(on)

    def binds(self, element: Element) -> bool:
        """Whether the element blocks approval while its law is in force."""
        return element.authority in BINDING and element.check not in ("max_items", "sent_before")

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings of an organization that the pack's texts are filled from."""
        declared = (name for locked in self.locked for name in locked.placeholders)
        return tuple(sorted({*declared, *COMMON_PLACEHOLDERS}))

    @property
    def record_paths(self) -> tuple[str, ...]:
        """The fields of a record that the pack asks for by name."""
        asked = {path for part in (*self.elements, *self.clocks, *self.locked) for path in part.when.record_paths}
        named = (*(element.paths for element in self.elements), *self.from_record.values())
        return tuple(sorted(asked.union(*named)))

    def recorded(self, record: Callable[[str], Any]) -> dict[str, str]:
        """The placeholders that a record fills.

        Args:
            record: as in `Applicability.holds`.
        """
        found = {name: [record(path) for path in paths] for name, paths in self.from_record.items()}
        fitting = {name: [value for value in values if _can_fill(value)] for name, values in found.items()}
        return {name: _on_one_line(values[0]) for name, values in fitting.items() if values}
