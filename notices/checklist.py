"""The checklist of a notice: each element its pack asks for, and whether the content has it."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from notices import clocks
from notices.facts import Facts, NoSuchField, Scalar
from notices.models import NoticeRevision
from notices.packs import Element, Pack

STATEMENT_FIELDS = ("decision_summary", "role_of_automated_system", "main_factors", "inputs_used")
_PLACEHOLDER = re.compile(r"\{\w+\}")

PRESENT, MISSING, NOT_APPLICABLE, CHECK = "present", "missing", "not_applicable", "check"


@dataclass(frozen=True, slots=True)
class Item:
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


def problems(facts: Facts, pack: Pack, revision: NoticeRevision) -> list[str]:
    """What stands in the way of approving a revision, a sentence each."""
    found = [
        f"{item.label}: missing ({item.citation})."
        for item in check(facts, pack, revision)
        if item.result == MISSING and item.blocks
    ]
    found += [
        f"The notice still says {{{name}}}: fill that in, in the notice or in the notice settings."
        for name in _unfilled(pack, revision.content)
    ]
    for citation in citations(facts, revision.content, revision.cited):
        if not citation.resolves:
            found.append(f"The source {citation.source} leads nowhere in the record.")
        elif citation.changed:
            found.append(f"The source {citation.source} has another value than when this was written.")
    return found


def check(facts: Facts, pack: Pack, revision: NoticeRevision, delivered_at: datetime | None = None) -> list[Item]:
    """The pack's elements against a revision. What binds is what bound on the day of the decision, else today.

    Args:
        delivered_at: when the notice reached the person, if it did.
    """
    content = revision.content
    decided = clocks.moment(facts.get("decided_at")) or timezone.now()
    labels = pack.text(str(content.get("language") or pack.languages[0])).labels
    return [
        Item(
            id=element.id,
            label=labels[element.id],
            where=element.where,
            result=_result(facts, pack, element, revision, delivered_at),
            citation=element.citation,
            authority=element.authority,
            blocks=pack.blocks(element, decided.date()),
            reason=revision.not_applicable.get(element.id, ""),
        )
        for element in pack.elements
    ]


def _result(facts: Facts, pack: Pack, element: Element, revision: NoticeRevision, delivered_at: datetime | None) -> str:
    content = revision.content
    if element.id in revision.not_applicable or not element.applies_to(facts.get, content):
        return NOT_APPLICABLE
    if element.check == "sent_before":
        return _in_time(facts, pack, element, revision, delivered_at)
    return PRESENT if _holds(facts, pack, element, content) else MISSING


def _in_time(
    facts: Facts, pack: Pack, element: Element, revision: NoticeRevision, delivered_at: datetime | None
) -> str:
    """Whether the notice was sent in time; as long as that is open, something to look at."""
    received_at = revision.notice.decision.received_at
    deadline = clocks.clock_deadline(pack, str(element.clock), facts, received_at=received_at)
    if deadline is None:
        return NOT_APPLICABLE
    if (delivered_at or timezone.now()) > deadline.due_at:
        return MISSING
    return PRESENT if delivered_at else CHECK


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


def _unfilled(pack: Pack, content: Mapping[str, Any]) -> list[str]:
    """The pack's placeholders that still stand in a content."""
    told = "\n".join(_all_text(value) for value in content.values())
    return [name for name in pack.settings if f"{{{name}}}" in told]


def _has_placeholder(value: Any) -> bool:
    return bool(_PLACEHOLDER.search(_all_text(value)))


def _all_text(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(_all_text(item) for item in value)
    if isinstance(value, Mapping):
        return str(value.get("statement", ""))
    return str(value or "")
