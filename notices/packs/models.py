"""Notice packs: a law as data, and its fixed texts in each language."""

import re
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Annotated, Any, Final, Literal

from pydantic import Field, PrivateAttr, field_validator, model_validator

from decisions.record import outcomes
from notices import kinds
from notices.bidi import contained
from notices.packs import conditions
from notices.packs.clocks import Clock
from notices.packs.conditions import Applicability
from notices.packs.parts import BINDING, Authority, Conditional, Id, List, Part, Sentence
from notices.packs.prohibited import Prohibition
from notices.packs.provisions import ByLaw, Caution, Choice
from notices.packs.scope import Scope
from notices.packs.weak_reasons import WeakPattern, WeakReason
from notices.sensitive.bases import ProhibitedBases, prohibited_bases

STATEMENT_FIELDS: Final = ("decision_summary", "role_of_automated_system", "main_factors", "inputs_used")
COMMON_PLACEHOLDERS: Final = frozenset({"organization", "contact"})
PLACEHOLDER = re.compile(r"\{(\w+)\}")
_SOMETHING = "[^{}]+?"

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
    "other_form",
]
LegalStatus = Literal["in_force", "enacted", "policy"]
HumanReview = Literal["required", "optional", "not_granted"]
Reading = Literal["primary", "copy", "secondary", "unconfirmed", "own"]


class Source(Part):
    """A text of law or guidance, and the form in which it was read."""

    id: Id
    citation: Sentence
    url: Annotated[str, Field(pattern=r"^(https?://\S+)?$")] = ""
    quote: str = ""
    read_on: date
    reading: Reading
    """`primary`: the official text; `copy`: a public copy of it; `secondary`: a text by others about it;
    `unconfirmed`: plausible but not read; `own`: the organization's own policy."""


class Element(Conditional):
    """One thing a notice must (or should) say or be."""

    id: Id
    where: Where
    authority: Authority
    citation: Sentence
    source: Id
    check: Check
    paths: Annotated[tuple[str, ...], List] = ()
    """Fields of the published record. Only statements whose source is at or below one of them count for the check, and
    drafting cites them. Capitals and word separators do not count."""
    naming: bool = False
    """With `cited`: only a name in words, in a field for names, counts: no date, year, number or id."""
    equals: str | int | bool | None = None
    """With `cited`: the value that the record must have at the cited path."""
    value: Annotated[int, Field(ge=1)] | None = None
    locked: Id | None = None
    clock: Id | None = None
    advice: bool = False
    """Good practice beyond the law's demands on every letter: the checklist shows it without a warning."""
    blocks_if: str = conditions.ALWAYS
    """The decisions for which its law was read: for others its absence only warns."""

    @field_validator("blocks_if")
    @classmethod
    def _blocks_by_the_record(cls, expression: str) -> str:
        if conditions.parse(expression).on_request:
            raise ValueError("what is asked for on request says so in 'applies'")
        return expression

    @cached_property
    def blocks_when(self) -> Applicability:
        """`blocks_if`, parsed."""
        return conditions.parse(self.blocks_if)

    @cached_property
    def _folded_paths(self) -> tuple[str, ...]:
        return tuple(f"{_folded(path)}." for path in self.paths)

    def counts(self, source: str) -> bool:
        """Whether a statement with this source counts for the check. An event in a list has its name as path."""
        return not self.paths or f"{_folded(source)}.".startswith(self._folded_paths)

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
        if self.naming and not (self.check == "cited" and self.paths):
            raise ValueError("'naming' goes with cited and paths")
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


@lru_cache(maxsize=4096)
def _folded(path: str) -> str:
    return ".".join(outcomes.folded(key) for key in path.split(".") if not key.isdecimal())


class Locked(Conditional):
    """A text that editors cannot change. Letters print it among the rights, filled from the organization's settings."""

    id: Id
    placeholders: Annotated[tuple[Id, ...], List] = ()
    citation: Sentence


class Framework(Conditional):
    """Another name of the law, printed if it applies. The first that applies is used."""

    id: Id


class Text(Part):
    """A pack's words in one language."""

    framework: Sentence
    framework_before: str = ""
    """The law's name in letters about decisions before its rights took effect."""
    frameworks: dict[Id, Sentence] = {}
    title: Sentence
    title_undecided: str = ""
    """The title of a letter about a case that is still open."""
    how_to_request_inputs: Sentence
    how_to_request_review: Sentence
    no_review: str
    deadline_note: str
    rights: Annotated[tuple[Sentence, ...], List]
    withheld: Sentence
    locked: dict[Id, Sentence] = {}
    forbidden: dict[Id, Annotated[tuple[Sentence, ...], Field(strict=False, min_length=1)]] = {}
    weak_reasons: dict[Id, WeakPattern] = {}
    labels: dict[Id, Sentence]


def base_language(tag: str) -> str:
    """Return a language without its region, in any spelling: `de` for `de-AT`, `de_AT` and ` DE`."""
    return tag.strip().replace("_", "-").partition("-")[0].lower()


def placeholders(text: str) -> tuple[str, ...]:
    """Return the names in braces, in order, each once."""
    return tuple(dict.fromkeys(PLACEHOLDER.findall(text)))


def fill(text: str, settings: Mapping[str, str]) -> str:
    """Fill a text from the organization's settings. A placeholder without a value stays in its braces."""
    return PLACEHOLDER.sub(lambda match: settings.get(match[1], "").strip() or match[0], text)


def is_text(right: str, template: str) -> bool:
    """Whether a right is this text word for word, with some text for each placeholder.

    The text after a placeholder is searched once (`?>`). With backtracking, a long right blocks a worker for hours.
    """
    begins, *parts = map(re.escape, PLACEHOLDER.split(template)[::2])
    between = "".join(f"(?>{_SOMETHING}{part})" for part in parts[:-1])
    pattern = begins + between + "".join(_SOMETHING + part for part in parts[-1:])
    return re.fullmatch(pattern, right) is not None


def _can_fill(value: Any) -> bool:
    """Whether a record's value can fill a placeholder: a number, or a visible text without braces."""
    if isinstance(value, str):
        return bool(_on_one_line(value)) and not set(value) & {"{", "}"}
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _same_name(one: str, other: str) -> bool:
    return one.casefold().split() == other.casefold().split()


def _on_one_line(value: Any) -> str:
    return contained(" ".join(str(value).replace("\x00", "").split()))


class Pack(Part):
    """The rules and texts of one law's notices. Each notice stores the pack's id, version and digest."""

    id: Id
    short_name: Annotated[str, Field(min_length=1, max_length=24)]
    """The law's name in lists of the back office, in English."""
    version: Annotated[str, Field(pattern=r"^\d{4}\.\d+$")]
    legal_status: LegalStatus
    effective_from: date
    effective_to: date | None = None
    languages: Annotated[tuple[Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")], ...], List]
    retention_days: Annotated[int, Field(ge=0)]
    retention_source: Id | None = None
    human_review: HumanReview
    advisory: bool = False
    """Whether findings only advise: possible for a policy alone. See `checklist.Problem`."""
    scope: Scope = Scope()
    frameworks: Annotated[tuple[Framework, ...], List] = ()
    sources: Annotated[tuple[Source, ...], List]
    elements: Annotated[tuple[Element, ...], List]
    clocks: Annotated[tuple[Clock, ...], List] = ()
    locked: Annotated[tuple[Locked, ...], List] = ()
    weak_reasons: Annotated[tuple[WeakReason, ...], List] = ()
    asked: Annotated[tuple[str, ...], List] = ()
    """Record paths that decide which of the pack's rules apply. Conditions compare them with words."""
    prohibited_bases: Annotated[tuple[Prohibition, ...], List] = ()
    from_record: dict[Id, Annotated[tuple[str, ...], Field(strict=False, min_length=1)]] = {}
    """Record paths that fill a placeholder before the organization's settings; the first with a value counts."""
    belongs_to: dict[Id, Id] = {}
    """By placeholder, the placeholder that it describes, as an address belongs to a name: the settings fill the address
    only if they have the printed name."""
    choices: dict[Id, Annotated[tuple[Choice, ...], Field(strict=False)]] = {}
    by_law: Annotated[tuple[ByLaw, ...], List] = ()
    cautions: Annotated[tuple[Caution, ...], List] = ()
    covers: dict[str, Annotated[tuple[str, ...], Field(strict=False, min_length=1)]] = {}
    """By field of `kinds.toml`, the kinds of plan or product that the law is for. Another kind blocks approval."""
    locales: dict[str, str] = {}
    """By language, the region for the format of dates and money, as in `en = "en_GB"`; otherwise the language's
    default."""
    _texts: Mapping[str, Text] = PrivateAttr(default_factory=dict)
    _digest: str = PrivateAttr(default="")

    @property
    def digest(self) -> str:
        """SHA-256, in hex, over the names and bytes of the pack's files."""
        return self._digest

    @property
    def texts(self) -> Mapping[str, Text]:
        return self._texts

    @property
    def labels(self) -> Mapping[str, str]:
        """The names of the elements for the organization, in English if the pack has it."""
        return self.text("en" if "en" in self.languages else self.languages[0]).labels

    def text(self, language: str) -> Text:
        """Return the words in one of the pack's languages.

        Raises:
            KeyError: the pack has no such language.
        """
        return self._texts[language]

    @property
    def framework(self) -> str:
        """The law's name as printed, in the pack's first language."""
        return self.text(self.languages[0]).framework

    def framework_for(self, language: str, record: Callable[[str], Any], on: date) -> str:
        """Return the law's name as a letter about a record prints it.

        Args:
            on: the day of the decision.
        """
        text = self.text(language)
        if text.framework_before and not self.scope.gives_rights(on):
            return text.framework_before
        fitting = (text.frameworks[one.id] for one in self.frameworks if one.applies_to(record))
        return next(fitting, text.framework)

    def title_for(self, language: str, record: Callable[[str], Any]) -> str:
        """Return the title of a letter about a record."""
        text = self.text(language)
        is_open = outcomes.kind(kinds.value(outcomes.PATHS[0], record)) in ("pending", "referred")
        return text.title_undecided if text.title_undecided and is_open else text.title

    def language_for(self, *wished: str | None) -> str:
        """Return the pack's language for the first wish that it can meet (`de-AT` gets `de`), or its first language."""
        for wish in filter(None, wished):
            for known in (wish, base_language(wish)):
                if known in self.languages:
                    return known
        return self.languages[0]

    def has_language(self, wish: str) -> bool:
        """Whether the pack can meet a wish, with or without its region."""
        return wish in self.languages or base_language(wish) in self.languages

    def element(self, element_id: str) -> Element:
        return next(element for element in self.elements if element.id == element_id)

    def clock(self, clock_id: str) -> Clock:
        return next(clock for clock in self.clocks if clock.id == clock_id)

    def source(self, source_id: str) -> Source:
        return next(source for source in self.sources if source.id == source_id)

    def lock(self, locked_id: str) -> Locked:
        return next(locked for locked in self.locked if locked.id == locked_id)

    def locked_texts(self, language: str, record: Callable[[str], Any]) -> tuple[str, ...]:
        """Return the locked texts of a notice about a record, with placeholders still in braces."""
        texts = self.text(language).locked
        return tuple(texts[locked.id] for locked in self.locked if locked.applies_to(record))

    def in_effect(self, on: date) -> bool:
        return self.effective_from <= on and (self.effective_to is None or on <= self.effective_to)

    def blocks(self, element: Element, on: date) -> bool:
        """Whether a missing element blocks the approval of a notice about a decision of that day.

        A maximum is only advice. Lateness never blocks, because a late notice must still go out.
        """
        return self.binds(element) and self.legal_status == "in_force" and self.in_effect(on)

    def binds(self, element: Element) -> bool:
        """Whether the element blocks approval while its law is in force."""
        return element.authority in BINDING and element.check not in ("max_items", "sent_before")

    @property
    def settings(self) -> tuple[str, ...]:
        """The names of the organization's settings that fill the pack's texts."""
        declared = (name for locked in self.locked for name in locked.placeholders)
        return tuple(sorted({*declared, *COMMON_PLACEHOLDERS}))

    @property
    def bases(self) -> ProhibitedBases:
        """The bases of decisions that the pack's laws prohibit."""
        return prohibited_bases(tuple(basis for group in self.prohibited_bases for basis in group.bases))

    def citation_of(self, basis: str) -> str:
        """Return the citation of the law that prohibits a basis."""
        return next(group.citation for group in self.prohibited_bases if basis in group.bases)

    @property
    def record_paths(self) -> tuple[str, ...]:
        """The fields of a record that the pack names."""
        parts = (*self.elements, *self.clocks, *self.locked, *self.frameworks, *self.by_law, *self.cautions)
        asked = {path for part in parts for path in part.when.record_paths}
        asked.update(path for one in self.elements for path in one.blocks_when.record_paths)
        named = (*(element.paths for element in self.elements), *self.from_record.values())
        return tuple(sorted(asked.union(self.covers, *named)))

    def not_covered(self, record: Callable[[str], Any]) -> tuple[str, Any] | None:
        """Return the first field of `covers` with another kind than those, and its word; None if there is none."""
        words = ((path, kinds.value(path, record)) for path in self.covers)
        return next(((path, word) for path, word in words if not self._covers(path, word)), None)

    def _covers(self, path: str, word: Any) -> bool:
        return word in (None, "", *self.covers[path])

    def recorded(self, record: Callable[[str], Any]) -> dict[str, str]:
        """Return the placeholders from a record, or from the law if the record has no value that the law allows.

        Args:
            record: as in `Applicability.holds`.
        """
        values = self.record_values(record)
        for law in self.by_law:
            if law.applies_to(record) and not law.allows(values.get(law.placeholder, "")):
                values[law.placeholder] = str(law.value)
        return values

    def record_values(self, record: Callable[[str], Any]) -> dict[str, str]:
        """Return the placeholders from a record, even those that the law does not allow."""
        candidates = {name: [record(path) for path in paths] for name, paths in self.from_record.items()}
        fitting = {name: [value for value in values if _can_fill(value)] for name, values in candidates.items()}
        return {name: _on_one_line(values[0]) for name, values in fitting.items() if values}

    def values(self, record: Callable[[str], Any], settings: Mapping[str, str]) -> dict[str, str]:
        """Return the placeholders for the texts of a notice about a record.

        Args:
            settings: the organization's.
        """
        recorded = self.recorded(record)
        values = {**settings, **recorded}
        for name, whole in self.belongs_to.items():
            if whole in recorded and name not in recorded and not _same_name(recorded[whole], settings.get(whole, "")):
                values.pop(name, None)
        return values
