"""The checklist of a notice: each element its pack asks for, and whether the content has it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from typing import Any, NamedTuple, Protocol

from config.visible_text import is_visible
from decisions.record import outcomes
from notices import deadlines, drafting, untold
from notices.content_limits import MAX_CITED, TooMuch
from notices.deadlines import Deadline
from notices.drafting import Redaction, Withholding
from notices.packs import (
    PLACEHOLDER,
    STATEMENT_FIELDS,
    Element,
    Pack,
    base_language,
    fill,
    flags,
    is_text,
    placeholders,
)
from notices.record_paths import Facts, NoSuchField, Scalar
from notices.sensitive.bases import title_of
from notices.untold import Untold
from notices.wording.reasons import has_words, says_nothing, telling_words

_ASKED_FOR_ACCESS = "events.access_request"
_OF_A_LIST = re.compile(r"outcome\.[^.]+\.[0-9]+(?![^.])")
"""Several sentences of one reason, or its text and its code, are one reason."""
_NAMING = re.compile(r"(?<!\S)(?!\S*\d)\S*?[^\W\d_]{2}")
"""A word without digits: an id has some."""
_OTHER_NAMES = {
    "at",
    "count",
    "date",
    "day",
    "days",
    "facility",
    "from",
    "id",
    "identifier",
    "location",
    "month",
    "number",
}
_OTHER_NAMES |= {
    "on",
    "period",
    "place",
    "provider",
    "quantity",
    "reference",
    "status",
    "units",
    "until",
    "urgency",
    "year",
}
"""Words in the names of fields that say when, where, by whom or how often, and not what."""
_AROUND_THE_DECISION = frozenset(
    {"approval.authority", "decided_at", "outcome.effective_date", "reconsiders.decision_id"}
)
"""When, by whom and about which one before it was decided, but not what."""
_MAX_UNTOLD, _MAX_PATH = 50, 200
_UNTOLD = {
    "reason": "a reason",
    "condition": "a condition",
    "missing": "what is still needed",
    "offer": "a part of an offer",
    "term": "one of its terms",
}
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
    earlier_version: str = ""
    """The version of the pack a draft was written under, where the pack has changed since."""
    drafted: frozenset[tuple[str, str, str]] = frozenset()
    """The statements and rights that the service drafted, of `stated`. All others are a person's."""

    @property
    def decided_on(self) -> date:
        """The day of the decision, by which it is told what law there is."""
        return deadlines.decided_on(self.facts, self.received_at)

    def framework(self, language: str) -> str:
        """The law's name, as a letter about this record prints it."""
        return self.pack.framework_for(language, self.facts.get, self.decided_on)


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
    decode: str = ""
    """How the value is read, in words, where a mapping decodes it."""

    def as_json(self) -> dict[str, Any]:
        value = self.value if isinstance(self.value, str | bool | int | None) else str(self.value)
        cited = {"source": self.source, "resolves": self.resolves, "value": value, "changed": self.changed}
        return {**cited, "decode": self.decode} if self.decode else cited


class Problem(NamedTuple):
    """A fault of a notice.

    Under an advisory pack a problem with a `kind` is a warning of that kind. Without one it blocks there too.
    """

    sentence: str
    where: str = ""
    """The path in the content, as in `main_factors.0`."""
    kind: str = ""

    def blocks(self, pack: Pack) -> bool:
        return not (pack.advisory and self.kind)


def sources(content: Mapping[str, Any]) -> list[str]:
    """The sources that a content cites, each once, in order."""
    cited = [item["source"] for name in STATEMENT_FIELDS for item in content.get(name, [])]
    return list(dict.fromkeys(cited))


def stated(content: Mapping[str, Any]) -> frozenset[tuple[str, str, str]]:
    """Return section, words and source of every statement and right. A right has no source."""
    items = ((name, item) for name in STATEMENT_FIELDS for item in content.get(name, []))
    rights = (("rights", text, "") for text in content.get("rights", []))
    return frozenset([*((name, item["statement"], item["source"]) for name, item in items), *rights])


def cited_values(facts: Facts, content: Mapping[str, Any]) -> dict[str, str]:
    """The present value of every source that resolves, as text: what an approval later compares with.

    Raises:
        TooMuch: the values are longer than a notice may cite.
    """
    values, room = {}, MAX_CITED
    for source in sources(content):
        try:
            values[source] = _as_cited(facts.find(source).value)
        except NoSuchField:
            continue
        room -= len(values[source])
        if room < 0:
            raise TooMuch(because="longer values than a notice may cite")
    return values


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
            changed = source in before and before[source] != _as_cited(value)
            checked.append(Citation(source, True, facts.stored(source), changed, facts.decode(source)))
    return checked


def problems(
    case: Case,
    revision: Revision,
    items: Sequence[ElementResult] | None = None,
    left_out: Sequence[Untold] | None = None,
) -> list[str]:
    """Return what blocks approval of a revision, a sentence each.

    Args:
        items, left_out: as `check` and `untold_fields` give them; None computes them.
    """
    listed = all_problems(case, revision, items, left_out)
    return [problem.sentence for problem in listed if problem.blocks(case.pack)]


def all_problems(
    case: Case,
    revision: Revision,
    items: Sequence[ElementResult] | None = None,
    left_out: Sequence[Untold] | None = None,
) -> Iterator[Problem]:
    """Find the problems of a revision, also those an advisory pack lets pass. Arguments as for `problems`."""
    for item in check(case, revision) if items is None else items:
        if item.result == MISSING and item.blocks:
            sentence = f"{item.label}: missing ({item.citation}).{_why_missing(case, item, revision.content)}"
            yield Problem(sentence, item.where, kind="missing_element")
    yield from _coverage_problem(case)
    yield from _decision_problem(case, revision.content)
    yield from _content_problems(case, revision.content)
    yield from _source_problems(case, revision)
    yield from _flag_problems(case)
    yield from _untold_problems(untold_fields(case, revision.content) if left_out is None else left_out)
    yield from _unexplained_problems(case, revision.content)
    if case.earlier_version:
        sentence = (
            f"The pack {case.pack.short_name} has changed since this was written: from {case.earlier_version} to "
            f"{case.pack.version}. Edit the notice, so that it is checked under the new one."
        )
        yield Problem(sentence, kind="pack_changed")


def _why_missing(case: Case, item: ElementResult, content: Mapping[str, Any]) -> str:
    """What is not plain to see: a reason is there, and it says nothing."""
    is_there = item.where == "main_factors" and any(
        case.pack.element(item.id).counts(each["source"]) for each in content["main_factors"]
    )
    return " No statement there says it in words." if is_there else ""


def untold_fields(case: Case, content: Mapping[str, Any]) -> list[Untold]:
    """What the record says under `outcome` and no statement tells."""
    return list(untold.find(case.facts, case.pack, case.redaction, content))


def _untold_problems(left_out: Sequence[Untold]) -> Iterator[Problem]:
    parts = [field for field in left_out if field.blocks]
    for part in parts[:_MAX_UNTOLD]:
        sentence = (
            f"The record's {_short(part.path)} is {_UNTOLD[part.kind]}, and no statement tells it: add one citing "
            "it, or withhold it in the phrasebook."
        )
        yield Problem(sentence, kind="untold_part")
    if len(parts) > _MAX_UNTOLD:
        sentence = f"No statement tells {len(parts) - _MAX_UNTOLD} more reasons, conditions and terms of the record."
        yield Problem(sentence, kind="untold_part")


def _unexplained_problems(case: Case, content: Mapping[str, Any]) -> Iterator[Problem]:
    """Find fields and codes that the record's mapping does not explain, and that no statement cites."""
    cited = set(sources(content))
    unexplained = [field for field in case.facts.unexplained if field.path not in cited]
    for field in unexplained[:_MAX_UNTOLD]:
        sentence = f"The record's {_short(field.path)} has {field.problem}. Say in the mapping what it means."
        yield Problem(sentence, kind="unexplained_field")
    if len(unexplained) > _MAX_UNTOLD:
        sentence = f"The mapping does not explain {len(unexplained) - _MAX_UNTOLD} more fields of the record."
        yield Problem(sentence, kind="unexplained_field")


def _short(path: str) -> str:
    return path if len(path) <= _MAX_PATH else f"{path[:_MAX_PATH]}…"


def _coverage_problem(case: Case) -> Iterator[Problem]:
    """Find a kind of plan or product that the pack's law is not for."""
    if other := case.pack.not_covered(case.facts.get):
        path, word = other
        shown = f"“{_short(word)}”" if isinstance(word, str) else "no text"
        covered = ", ".join(case.pack.covers[path])
        sentence = f"The record's {path} is {shown}, and this pack is for {covered} alone: draft under another pack."
        yield Problem(sentence, kind="not_covered")


def _decision_problem(case: Case, content: Mapping[str, Any]) -> Iterator[Problem]:
    """Find a summary that does not say what was decided. Under every pack it says something."""
    summary = content["decision_summary"]
    cited = (item["source"] for item in summary if has_words(item["statement"]))
    if all(source in _AROUND_THE_DECISION or says_nothing(case.facts.get(source)) for source in cited):
        sentence = (
            "The letter does not say what was decided: say it in decision_summary, in a sentence about the field of "
            "the record that has it, such as outcome.action."
        )
        is_empty = not any(is_visible(item["statement"]) for item in summary)
        yield Problem(sentence, "decision_summary", kind="" if is_empty else "no_decision")


def _flag_problems(case: Case) -> Iterator[Problem]:
    for path in flags.unreadable(case.facts.get, case.pack.record_paths):
        sentence = (
            f"The record's {path} is neither true nor false, so nobody can tell what this letter has to say: "
            'send the record again under another decision_id, with a JSON boolean there and no text such as "no".'
        )
        yield Problem(sentence, kind="unreadable_flag")


def _content_problems(case: Case, content: Mapping[str, Any]) -> Iterator[Problem]:
    text = case.pack.text(str(content["language"]))
    if not is_visible(content["title"]):
        yield Problem("The notice has no title.", "title", kind="no_title")
    framework = case.framework(str(content["language"]))
    if content["framework"] != framework:
        sentence = f"The framework is not the pack's. Write: {framework}."
        yield Problem(sentence, "framework", kind="other_framework")
    for name in STATEMENT_FIELDS:
        for number, item in enumerate(content[name], start=1):
            if not is_visible(item["statement"]):
                sentence = f"Statement {number} of {name} says nothing: write it or remove it."
                yield Problem(sentence, f"{name}.{number - 1}", kind="blank_statement")
    for name in _unfilled(case, content):
        yield Problem(f"The notice still says {{{name}}}: fill that in, in the notice or in the notice settings.")
    if case.redaction.leaves_out and not any(is_text(right, text.withheld) for right in content["rights"]):
        sentence = f"Your phrasebook, your settings or the law withholds a part of this record. Say so: {text.withheld}"
        yield Problem(sentence, "rights", kind="unsaid_withholding")


def _source_problems(case: Case, revision: Revision) -> Iterator[Problem]:
    for citation in citations(case.facts, revision.content, revision.cited):
        if not citation.resolves:
            yield Problem(f"The source {citation.source} leads nowhere in the record.")
        elif citation.changed:
            yield Problem(f"The source {citation.source} has another value than when this was written.")
        elif case.facts.is_withheld(citation.source):
            sentence = f"The source {_short(citation.source)} is withheld by the mapping: remove the statement."
            yield Problem(sentence, kind="withheld_source")
        elif why := case.redaction.why(case.facts.find(citation.source)):
            because = _because(case.pack, why)
            sentence = f"The source {_short(citation.source)} is withheld {because}: remove the statement."
            yield Problem(sentence, kind="withheld_source")


def _because(pack: Pack, why: Withholding) -> str:
    match why.by:
        case "phrasebook":
            return "by your phrasebook"
        case "sensitive":
            return f"as sensitive ({why.what}; see the notice settings)"
        case _:
            return f"because the law forbids to decide by it ({title_of(why.what)}; {pack.citation_of(why.what)})"


def check(case: Case, revision: Revision) -> list[ElementResult]:
    """The pack's elements against a revision. What binds is what bound on the day of the decision."""
    pack, decided_on = case.pack, case.decided_on
    labels = pack.labels
    return [
        ElementResult(
            id=element.id,
            label=labels[element.id],
            where=element.where,
            result=_result(case, element, revision),
            citation=element.citation,
            authority=element.authority,
            blocks=pack.blocks(element, decided_on) and element.blocks_when.holds(case.facts.get),
            reason=revision.not_applicable.get(element.id, ""),
        )
        for element in pack.elements
    ]


def _result(case: Case, element: Element, revision: Revision) -> str:
    content = revision.content
    if element.id in revision.not_applicable or not _applies(case, element, content):
        return NOT_APPLICABLE
    match element.check:
        case "sent_before":
            return _in_time(case, element)
        case "readers_language":
            return _in_readers_language(case, content)
        case "other_form":  # no letter of ours is that form
            return MISSING
        case _:
            return PRESENT if _holds(case, element, content) else MISSING


def _applies(case: Case, element: Element, content: Mapping[str, Any]) -> bool:
    """Whether an element is asked for. What only a later law gives cannot be told of an earlier decision."""
    if element.where in drafting.RIGHTS and not case.pack.scope.gives_rights(case.decided_on):
        return False
    asked = case.requested_review is not None or bool(case.facts.get(_ASKED_FOR_ACCESS))
    return element.applies_to(case.facts.get, content, requested=asked)


def deadline_of(case: Case, element: Element) -> Deadline | None:
    """Return the deadline of an element that names a clock; None while the clock does not run."""
    requested_at = case.requested_review.at if case.requested_review else None
    return deadlines.clock_deadline(
        case.pack, str(element.clock), case.facts, received_at=case.received_at, requested_at=requested_at
    )


def _in_time(case: Case, element: Element) -> str:
    """Whether the notice was sent, or the person answered, in time; as long as that is open, something to look at."""
    deadline, review = deadline_of(case, element), case.requested_review
    if deadline is None:
        return NOT_APPLICABLE
    is_notice = case.pack.clock(str(element.clock)).what == "notice"
    done_at = case.delivered_at if is_notice else review and review.answered_at
    if (done_at or datetime.now(UTC)) > deadline.due_at:
        return MISSING
    return PRESENT if done_at else CHECK


def _in_readers_language(case: Case, content: Mapping[str, Any]) -> str:
    if not case.reader_language:
        return CHECK
    return PRESENT if base_language(case.reader_language) == base_language(str(content["language"])) else MISSING


def _holds(case: Case, element: Element, content: Mapping[str, Any]) -> bool:
    value = content[element.where]
    counted = _counted(case.facts, element, value)
    match element.check:
        case "nonempty":
            return is_visible(_all_text(value)) and not _has_placeholder(value)
        case "min_items":
            return len(counted) >= (element.value or 1)
        case "max_items":
            return len(set(map(_item, counted))) <= (element.value or 0)
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
    text = fill(locked, case.pack.recorded(case.facts.get))
    return any(is_text(right, text) for right in content[element.where])


def _counted(facts: Facts, element: Element, value: Any) -> list[Any]:
    """The items of a list that an element counts: those that say something, about the paths that it names if any.

    What is asked for among the reasons has to say it in words; whatever is printed counts against a maximum.
    """
    if element.where not in STATEMENT_FIELDS:
        return [item for item in value if is_visible(item)] if isinstance(value, list) else []
    in_words = element.where == "main_factors" and element.check != "max_items"
    about = (item for item in value if element.counts(facts.named(item["source"])))  # cheaper, so it comes first
    said = (item for item in about if (telling_words if in_words else is_visible)(item["statement"]))
    return [item for item in said if not element.naming or _names_a_thing(facts, item["source"])]


def _names_a_thing(facts: Facts, source: str) -> bool:
    """Whether a field is there to say what a thing is, and does so in words: nobody had a "2026-11-01"."""
    try:
        fact = facts.find(source)
    except NoSuchField:
        return False
    named_for = outcomes.spelling(fact.field.name).split("_")
    return _OTHER_NAMES.isdisjoint(named_for) and isinstance(fact.value, str) and bool(_NAMING.search(fact.value))


def _item(item: Any) -> str:
    """What a statement is about. Strings that are no sources, as rights, are each its own."""
    if isinstance(item, str):
        return item
    found = _OF_A_LIST.match(item["source"])
    return found[0] if found else str(item["source"])


def _cites(facts: Facts, element: Element, source: str) -> bool:
    try:
        value = facts.find(source).value
    except NoSuchField:
        return False
    if says_nothing(value):
        return False
    if "equals" not in element.model_fields_set:
        return True
    return value == element.equals and isinstance(value, bool) == isinstance(element.equals, bool)


def _unfilled(case: Case, content: Mapping[str, Any]) -> list[str]:
    """The pack's placeholders that still stand in a content. Braces in the record's own words are none."""
    texts = [_all_text(value) for name, value in content.items() if name not in STATEMENT_FIELDS]
    texts += [_own_words(case.facts, item) for name in STATEMENT_FIELDS for item in content[name]]
    return [name for name in case.pack.settings if any(f"{{{name}}}" in text for text in texts)]


def _own_words(facts: Facts, item: Mapping[str, str]) -> str:
    """A statement without the placeholders that the field it cites has itself."""
    value = facts.get(item["source"])
    recorded = placeholders(value) if isinstance(value, str) else ()
    return PLACEHOLDER.sub(lambda found: "" if found[1] in recorded else found[0], item["statement"])


def _has_placeholder(value: Any) -> bool:
    return bool(PLACEHOLDER.search(_all_text(value)))


def _all_text(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(_all_text(item) for item in value)
    if isinstance(value, Mapping):
        return str(value.get("statement", ""))
    return str(value or "")
