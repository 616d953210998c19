"""Fields as another tool declares them, and the proposals that they make."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from config.errors import Invalid
from decisions.mapping.suggest import Proposal, propose_fields
from decisions.mapping.suggest.statistics import MAX_FIELDS, FieldStatistics
from decisions.record import patterns
from decisions.record.meanings import MAX_VALUES, Entry, Label, WithheldClass, Words
from decisions.record.patterns import InvalidPattern, general_segment

MAX_DOCUMENT = 500_000  # characters
MAX_STEPS = 32  # steps of a declared path
MAX_CODES = 20_000  # of all fields: references of a schema may multiply them
_MAX_LISTED = 50  # codes that a question lists
_MAX_LABEL = 256  # characters

Kind = Literal["text", "number", "flag", "date"]
_CLASSES: dict[str, WithheldClass] = {
    "internal": "internal",
    "secret": "secret",
    "restricted": "secret",
    "protected": "protected",
    "special category": "protected",
    "other_person": "other_person",
}
"""Classes that say why a field is not told. Of any other classification but `public`, a person decides."""
_LABEL, _WORDS = TypeAdapter[str](Label), TypeAdapter[str](Words)
_OPEN = frozenset({"", "public", "none", "unclassified"})


class BadImport(Invalid):
    """The document to import is invalid or too large. The sentence says where and why."""

    def __init__(self, sentence: str) -> None:
        super().__init__([{"type": "value_error", "loc": ["body", "document"], "msg": sentence}])


@dataclass(frozen=True, slots=True)
class Declared:
    """A field as another tool declares it.

    Attributes:
        path: its pattern.
        codes: its codes with their words, or "" for a code without words.
        entry: the entry, if the document has one.
    """

    path: str
    kind: Kind = "text"
    label: str = ""
    codes: dict[str, str] = field(default_factory=dict)
    classification: str = ""
    entry: Entry | None = None


def path_of(keys: Sequence[str | None], below: str) -> str:
    """Return the pattern of keys below a place of the record; None is a position of a list. Raises BadImport."""
    if len(keys) > MAX_STEPS:
        raise BadImport(f"A field is more than {MAX_STEPS} levels deep.")
    steps = ["*" if key is None else general_segment(key) for key in keys]
    path = ".".join([below, *steps] if below else steps)
    try:
        patterns.parse(path)
    except InvalidPattern as error:
        raise BadImport(f"The field {path[:64]} cannot be mapped: {error}.") from None
    return path


def label_of(*texts: Any) -> str:
    """Return the first text that can label a field, shortened, or ""."""
    for text in texts:
        label = " ".join(text.split())[:_MAX_LABEL] if isinstance(text, str) else ""
        if label and _is(label, _LABEL):
            return label
    return ""


def proposals(fields: Iterable[Declared], language: str) -> list[Proposal]:
    """Return a proposal for each field. Those with a question come first.

    Args:
        language: the language of labels and words.

    Raises:
        BadImport: there are no fields, too many, or one has too many codes.
    """
    declared: dict[str, Declared] = {}
    codes = 0
    for one in fields:
        declared.setdefault(one.path, one)
        if len(declared) > MAX_FIELDS:
            raise BadImport(f"The document has more than {MAX_FIELDS} fields.")
        codes += len(one.codes)
        if len(one.codes) > MAX_VALUES or codes > MAX_CODES:
            raise BadImport(f"{one.path} has more than {MAX_VALUES} codes, or all fields more than {MAX_CODES}.")
    if not declared:
        raise BadImport("The document declares no fields.")
    by_path = {path: _statistics(one, language) for path, one in declared.items()}
    ready = [_given(one, by_path[one.path]) for one in declared.values()]
    proposed = {proposal.field.path: proposal for proposal in propose_fields(by_path)}
    both = [given or proposed[path] for path, given in zip(declared, ready, strict=True)]
    return sorted(both, key=lambda proposal: not proposal.question)


def _given(declared: Declared, statistics: FieldStatistics) -> Proposal | None:
    """Return the proposal that the document itself makes: an entry, or a classification that withholds the field."""
    if declared.entry:
        entry = declared.entry.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return Proposal(entry, declared.entry.why, "", statistics)
    classification = " ".join(declared.classification.split()).casefold()
    if classification in _OPEN:
        return None
    known = _CLASSES.get(classification)
    why = f"it is classified as {classification[:64]}"
    entry = {"path": declared.path, "means": "not_told", "class": known or "internal", "source": "proposed", "why": why}
    question = "" if known else "May a letter to the person name it?"
    return Proposal(entry, why, question, statistics)


def _statistics(declared: Declared, language: str) -> FieldStatistics:
    """Return statistics as if records had shown what a declaration says."""
    kind = "text" if declared.kind == "date" else declared.kind
    return FieldStatistics(
        declared.path,
        kinds=Counter({kind: 1}),
        values=Counter(dict.fromkeys(list(declared.codes)[:_MAX_LISTED], 1)),
        days=int(declared.kind == "date"),
        codes=int(bool(declared.codes)),
        label={language: declared.label} if declared.label else {},
        words={code: {language: text} if _is(text, _WORDS) else {} for code, text in declared.codes.items()},
    )


def _is(text: str, kind: TypeAdapter[str]) -> bool:
    try:
        kind.validate_python(text)
    except ValidationError:
        return False
    return True
