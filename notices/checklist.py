"""The checklist of a notice: each element its pack asks for, and whether the content has it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from notices import deadlines
from notices.drafting import Redaction
from notices.limits import MOST_CITED, TooMuch
from notices.packs import PLACEHOLDER, STATEMENT_FIELDS, Element, Pack, base_language, fill
from notices.record_paths import Facts, NoSuchField, Scalar

_SOMETHING = "[^{}]+?"
PRESENT, MISSING, NOT_APPLICABLE, CHECK = "present", "missing", "not_applicable", "check"


class Revision(Protocol):
    """What a notice says, and what is known of it beside its words."""

    @property
    def content(self) -> Mapping[str, Any]:
        """The twelve content fields of the contract."""

    @property
    def cited(self) -> Mapping[str, str]:
        """`cited_values` when the revision was made."""

    @property
    def not_applicable(self) -> Mapping[str, str]:
        """Ids of elements that do not apply, each with the reason."""


@dataclass(frozen=True, slots=True)
class RequestedReview:
    """The affected person asked for a review, and had the answer then, or has it not yet."""

    at: datetime
    answered_at: datetime | None


@dataclass(frozen=True, slots=True)
class Case:
    """What a notice is checked against: the record, the law, and what became of the notice."""

    facts: Facts
    pack: Pack
    received_at: datetime
    """When the service received the record."""
    reader_language: str
    """The language that the person reads, "" where nobody said."""
    redaction: Redaction
    delivered_at: datetime | None
    """When the notice reached the person, if it did."""
    requested_review: RequestedReview | None


@dataclass(frozen=True, slots=True)
class ElementResult:
    """One element's result. `blocks` says that approval is refused while it is missing; `reason` is why somebody said
    that it does not apply."""

    id: str
    label: str
    where: str
    result: str
    citation: str
    authority: str
    blocks: bool
    reason: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Citation:
    """What a statement's source leads to. `changed` is set if it was another value when the revision was made."""

    source: str
    resolves: bool
    value: Scalar
    changed: bool

    def as_json(self) -> dict[str, Any]:
        value = self.value if isinstance(self.value, str | bool | int | None) else str(self.value)
        return {"source": self.source, "resolves": self.resolves, "value": value, "changed": self.changed}


def sources(content: Mapping[str, Any]) -> list[str]:
    """The sources that a content cites, each once, in order."""
    cited = [item["source"] for name in STATEMENT_FIELDS for item in content.get(name, [])]
    return list(dict.fromkeys(cited))


def cited_values(facts: Facts, content: Mapping[str, Any]) -> dict[str, str]:
    """The present value of every source that resolves, as text: what an approval later compares with.

    Raises:
        TooMuch: the values are longer than a notice may cite.
    """
    found, room = {}, MOST_CITED
    for source in sources(content):
        try:
            found[source] = _as_cited(facts.find(source).value)
        except NoSuchField:
            continue
        room -= len(found[source])
        if room < 0:
            raise TooMuch(because="longer values than a notice may cite")
    return found


def _as_cited(value: Scalar) -> str:
    """A value as text, without NUL, which PostgreSQL cannot hold."""
    return str(value).replace("\x00", "")


def citations(facts: Facts, content: Mapping[str, Any], before: Mapping[str, str]) -> list[Citation]:
    """Where each source leads now.

    Args:
        before: `cited_values` of the revision.
    """
    checked = []
    for source in sources(content):
        try:
            value = facts.find(source).value
        except NoSuchField:
            checked.append(Citation(source, False, None, source in before))
        else:
            checked.append(Citation(source, True, value, source in before and before[source] != _as_cited(value)))
    return checked


def problems(case: Case, revision: Revision) -> list[str]:
    """What stands in the way of approving a revision, a sentence each."""
    missing = [
        f"{item.label}: missing ({item.citation})."
        for item in check(case, revision)
        if item.result == MISSING and item.blocks
    ]
    return [*missing, *_content_problems(case, revision.content), *_source_problems(case, revision)]


def _content_problems(case: Case, content: Mapping[str, Any]) -> Iterator[str]:
    text = case.pack.text(str(content["language"]))
    if not content["title"].strip():
        yield "The notice has no title."
    if content["framework"] != text.framework:
        yield f"The framework is not the one of the pack, which is printed as it stands: {text.framework}"
    for name in STATEMENT_FIELDS:
        for number, item in enumerate(content[name], start=1):
            if not item["statement"].strip():
                yield f"Statement {number} of {name} says nothing: write it or remove it."
    for name in _unfilled(case.pack, content):
        yield f"The notice still says {{{name}}}: fill that in, in the notice or in the notice settings."
    if case.redaction.leaves_out and not _is_among(text.withheld, content["rights"]):
        yield f"Your phrasebook withholds a part of this record. Say so among the rights: {text.withheld}"


def _source_problems(case: Case, revision: Revision) -> Iterator[str]:
    for citation in citations(case.facts, revision.content, revision.cited):
        if not citation.resolves:
            yield f"The source {citation.source} leads nowhere in the record."
        elif citation.changed:
            yield f"The source {citation.source} has another value than when this was written."
        elif case.redaction.covers(case.facts.find(citation.source)):
            yield f"The source {citation.source} is withheld by your phrasebook: remove the statement."


def check(case: Case, revision: Revision) -> list[ElementResult]:
    """The pack's elements against a revision. What binds is what bound on the day of the decision, else today."""
    pack, content = case.pack, revision.content
    decided = deadlines.parse_moment(case.facts.get("decided_at")) or datetime.now(UTC)
    labels = pack.text(str(content["language"])).labels
    return [
        ElementResult(
            id=element.id,
            label=labels[element.id],
            where=element.where,
            result=_result(case, element, revision),
            citation=element.citation,
            authority=element.authority,
            blocks=pack.blocks(element, decided.date()),
            reason=revision.not_applicable.get(element.id, ""),
        )
        for element in pack.elements
    ]


def _result(case: Case, element: Element, revision: Revision) -> str:
    content = revision.content
    applies = element.applies_to(case.facts.get, content, requested=case.requested_review is not None)
    if element.id in revision.not_applicable or not applies:
        return NOT_APPLICABLE
    match element.check:
        case "sent_before":
            return _in_time(case, element)
        case "readers_language":
            return _in_readers_language(case, content)
        case _:
            return PRESENT if _holds(case, element, content) else MISSING


def _in_time(case: Case, element: Element) -> str:
    """Whether the notice was sent, or the person answered, in time; as long as that is open, something to look at."""
    clock = case.pack.clock(str(element.clock))
    review = case.requested_review
    deadline = deadlines.clock_deadline(
        case.pack, clock.id, case.facts, received_at=case.received_at, requested_at=review.at if review else None
    )
    if deadline is None:
        return NOT_APPLICABLE
    done_at = case.delivered_at if clock.what == "notice" else review and review.answered_at
    if (done_at or datetime.now(UTC)) > deadline.due_at:
        return MISSING
    return PRESENT if done_at else CHECK


def _in_readers_language(case: Case, content: Mapping[str, Any]) -> str:
    if not case.reader_language:
        return CHECK
    return PRESENT if base_language(case.reader_language) == base_language(str(content["language"])) else MISSING


def _holds(case: Case, element: Element, content: Mapping[str, Any]) -> bool:
    value = content[element.where]
    counted = _counted(element, value)
    match element.check:
        case "nonempty":
            return bool(_all_text(value).strip()) and not _has_placeholder(value)
        case "min_items":
            return len(counted) >= (element.value or 1)
        case "max_items":
            return len(counted) <= (element.value or 0)
        case "cited":
            return bool(counted) and all(_cites(case.facts, element, item["source"]) for item in counted)
        case "contains_locked_text":
            return _contains_locked(case, element, content)
        case "forbidden_phrase":
            phrases = case.pack.text(str(content["language"])).forbidden.get(element.id, ())
            text = _all_text(value).lower()
            return not any(phrase.lower() in text for phrase in phrases)
        case _:  # is_true
            return value is True


def _contains_locked(case: Case, element: Element, content: Mapping[str, Any]) -> bool:
    locked = case.pack.text(str(content["language"])).locked[str(element.locked)]
    return _is_among(fill(locked, case.pack.recorded(case.facts.get)), content[element.where])


def _is_among(text: str, rights: Iterable[str]) -> bool:
    """Whether one of the rights is this text word for word, with something in the place of each placeholder.

    What follows a placeholder is looked for once (`?>`): else a long right keeps a worker busy for hours.
    """
    begins, *rest = map(re.escape, PLACEHOLDER.split(text)[::2])
    between = "".join(f"(?>{_SOMETHING}{part})" for part in rest[:-1])
    pattern = begins + between + "".join(_SOMETHING + part for part in rest[-1:])
    return any(re.fullmatch(pattern, right) for right in rights)


def _counted(element: Element, value: Any) -> list[Any]:
    """The items of a list that an element counts: those that say something, about the paths that it names if any."""
    if element.where not in STATEMENT_FIELDS:
        return [item for item in value if item.strip()] if isinstance(value, list) else []
    return [item for item in value if item["statement"].strip() and element.counts(item["source"])]


def _cites(facts: Facts, element: Element, source: str) -> bool:
    try:
        value = facts.find(source).value
    except NoSuchField:
        return False
    return "equals" not in element.model_fields_set or value == element.equals


def _unfilled(pack: Pack, content: Mapping[str, Any]) -> list[str]:
    """The pack's placeholders that still stand in a content."""
    text = "\n".join(_all_text(value) for value in content.values())
    return [name for name in pack.settings if f"{{{name}}}" in text]


def _has_placeholder(value: Any) -> bool:
    return bool(PLACEHOLDER.search(_all_text(value)))


def _all_text(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(_all_text(item) for item in value)
    if isinstance(value, Mapping):
        return str(value.get("statement", ""))
    return str(value or "")
