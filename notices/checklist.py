"""The checklist of a notice: each element its pack asks for, and whether the content has it."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from django.utils.dateparse import parse_datetime

from notices.facts import Facts, NoSuchField, Scalar
from notices.packs import Element, Pack

STATEMENT_FIELDS = ("decision_summary", "role_of_automated_system", "main_factors", "inputs_used")
_PLACEHOLDER = re.compile(r"\{\w+\}")

PRESENT, MISSING, NOT_APPLICABLE, CHECK = "present", "missing", "not_applicable", "check"


@dataclass(frozen=True, slots=True)
class Item:
    """One element's result. `blocks` says that approval is refused while it is missing."""

    id: str
    label: str
    where: str
    result: str
    citation: str
    authority: str
    blocks: bool

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
        shown = self.value if isinstance(self.value, str | bool | int | None) else str(self.value)
        return {"source": self.source, "resolves": self.resolves, "value": shown, "changed": self.changed}


def sources(content: Mapping[str, Any]) -> list[str]:
    """The sources that a content cites, each once, in order."""
    cited = [item["source"] for name in STATEMENT_FIELDS for item in content.get(name, [])]
    return list(dict.fromkeys(cited))


def cited_values(facts: Facts, content: Mapping[str, Any]) -> dict[str, str]:
    """The present value of every source that resolves, as text: what an approval later compares with."""
    found = {}
    for source in sources(content):
        try:
            found[source] = str(facts.find(source).value)
        except NoSuchField:
            continue
    return found


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
            checked.append(Citation(source, True, value, source in before and before[source] != str(value)))
    return checked


def check(facts: Facts, pack: Pack, content: Mapping[str, Any], today: date) -> list[Item]:
    """The pack's elements against a content. What binds is what bound on the day of the decision, else `today`."""
    day = _decided(facts) or today
    labels = pack.text(str(content.get("language") or pack.languages[0])).labels
    return [
        Item(
            id=element.id,
            label=labels[element.id],
            where=element.where,
            result=_result(facts, pack, element, content),
            citation=element.citation,
            authority=element.authority,
            blocks=pack.blocks(element, day),
        )
        for element in pack.elements
    ]


def _decided(facts: Facts) -> date | None:
    told = facts.get("decided_at")
    try:
        moment = parse_datetime(told) if isinstance(told, str) else None
    except ValueError:
        return None
    return moment.date() if moment else None


def _result(facts: Facts, pack: Pack, element: Element, content: Mapping[str, Any]) -> str:
    if element.applies == "on_request" or not element.applies_to(facts.get, content):
        return NOT_APPLICABLE
    if element.check == "sent_before":
        return CHECK  # whether it was is known when it is delivered
    return PRESENT if _holds(facts, pack, element, content) else MISSING


def _holds(facts: Facts, pack: Pack, element: Element, content: Mapping[str, Any]) -> bool:
    value = content.get(element.where)
    counted = _counted(element, value)
    match element.check:
        case "nonempty":
            return bool(value) and not _has_placeholder(value)
        case "min_items":
            return len(counted) >= (element.value or 1)
        case "max_items":
            return len(counted) <= (element.value or 0)
        case "cited":
            return bool(counted) and all(_cites(facts, element, item["source"]) for item in counted)
        case "contains_locked_text":
            return _contains_locked(pack, element, content)
        case "forbidden_phrase":
            phrases = pack.text(str(content["language"])).forbidden.get(element.id, ())
            told = _all_text(value).lower()
            return not any(phrase.lower() in told for phrase in phrases)
        case _:  # is_true
            return value is True


def _contains_locked(pack: Pack, element: Element, content: Mapping[str, Any]) -> bool:
    """The locked text is there word for word, with something in the place of each placeholder."""
    locked = pack.text(str(content["language"])).locked[str(element.locked)]
    pattern = "".join(
        r"[^{}]+?" if _PLACEHOLDER.fullmatch(part) else re.escape(part) for part in re.split(r"(\{\w+\})", locked)
    )
    rights = content.get(element.where)
    return any(re.fullmatch(pattern, right) for right in (rights if isinstance(rights, list) else [str(rights)]))


def _counted(element: Element, value: Any) -> list[Any]:
    """The items of a list that an element counts: all, or the statements about the paths it names."""
    items = value if isinstance(value, list) else []
    return [item for item in items if element.counts(item["source"])] if element.paths else items


def _cites(facts: Facts, element: Element, source: str) -> bool:
    try:
        value = facts.find(source).value
    except NoSuchField:
        return False
    return "equals" not in element.model_fields_set or value == element.equals


def _has_placeholder(value: Any) -> bool:
    return bool(_PLACEHOLDER.search(_all_text(value)))


def _all_text(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(_all_text(item) for item in value)
    if isinstance(value, Mapping):
        return str(value.get("statement", ""))
    return str(value or "")
