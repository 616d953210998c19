"""What a record says under `outcome` and a letter tells nowhere: nothing of it is left out in silence."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from decisions.record import outcomes
from notices import outcome_parts
from notices.drafting import Redaction
from notices.drafting.measures import Measures
from notices.drafting.reasons import Parts, cited_field, parts_of
from notices.drafting.topics import is_blank, is_prose
from notices.localization import spell_out
from notices.localization.names import words_of
from notices.localization.sentences import one_line
from notices.packs import STATEMENT_FIELDS, Pack
from notices.record_paths import MOST_SOURCE, Fact, Facts, NoSuchField

MOST = 1000
"""Untold fields that an answer or a page lists. Nobody reads more."""


_NO_CODES = {"path", "direction", "attribution"}
"""What stands beside a code, and names no reason."""


@dataclass(frozen=True, slots=True)
class Untold:
    """A field that no statement cites. `blocks`: the letter has to tell it, or the organization to withhold it."""

    path: str
    kind: outcome_parts.Kind
    blocks: bool

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def find(facts: Facts, pack: Pack, redaction: Redaction, content: Mapping[str, Any]) -> Iterator[Untold]:
    """The untold fields of the outcome, in the record's order. What is withheld is none of them."""
    outcome = cited_field(facts, "outcome")
    if outcome is None:
        return
    letter, measures = _Letter(facts, pack, redaction, content), Measures()
    for fact in outcome.scalars():
        if is_blank(fact.value) or measures.is_used(fact) or letter.accounts_for(fact):
            continue
        kind = outcome_parts.kind(fact)
        if letter.tells_item_of(fact):
            if not _is_told_with(fact):
                yield Untold(_path(fact), "detail" if kind == "reason" else kind, blocks=False)
        else:
            kind = _alone(facts, fact) if kind == "code" else kind
            yield Untold(_path(fact), kind, blocks=kind in outcome_parts.NEVER_LOST)


class _Letter:
    """What a letter tells of a record. Each object is looked at once."""

    def __init__(self, facts: Facts, pack: Pack, redaction: Redaction, content: Mapping[str, Any]) -> None:
        self._facts, self._redaction = facts, redaction
        self._cited, self._texts, self._named = set[str](), set[str](), set[str]()
        for source in {item["source"] for name in STATEMENT_FIELDS for item in content.get(name, [])}:
            try:
                fact = facts.find(source)
            except NoSuchField:
                continue
            self._cited.add(fact.path)
            self._texts.add(_reading(fact) if _is_reason(fact) else _words(fact.value))
            item = outcome_parts.item_of(fact)
            if item and (name := outcome_parts.item_name(item)) and not redaction.covers(name):
                self._named.add(name.path)
        self._items: dict[int, bool] = {}
        self._filled = _filled(facts, pack, content)
        parts = (*pack.elements, *pack.clocks, *pack.locked)
        self._asked = {facts.real(path) for part in parts for path in part.when.record_paths}

    def accounts_for(self, fact: Fact) -> bool:
        """Whether a field is told or withheld, or chose by being true or false what the letter says."""
        if self._redaction.covers(fact):
            return True
        if fact.path_length > MOST_SOURCE:
            return False
        path, value = fact.path, fact.value
        if path in self._cited or path in self._named or (isinstance(value, bool) and path in self._asked):
            return True
        if path in self._filled and one_line(str(value)) in self._filled[path]:
            return True
        if path == outcomes.PATHS[0] and outcomes.PATHS[1] in self._cited and outcomes.is_said_twice(self._facts.get):
            return True
        return _is_reason(fact) and _reading(fact) in self._texts

    def tells_item_of(self, fact: Fact) -> bool:
        """Whether the reason or factor that a field is a part of is told by another of its fields, or withheld."""
        item = fact.parent
        if item is None or not isinstance(item.value, dict) or not _is_reason(item):
            return False
        if id(item.value) not in self._items:
            parts = parts_of(item)
            self._items[id(item.value)] = bool(parts) and (self._is_told(item, parts) or self._is_withheld(parts))
        return self._items[id(item.value)]

    def _is_told(self, item: Fact, parts: Parts) -> bool:
        cited = (cited_field(self._facts, part.value) for part in parts["path"])
        if any(fact is not None and fact.path in self._cited for fact in cited):
            return True
        if any(fact.path in self._cited for fact in item.scalars() if fact.path_length <= MOST_SOURCE):
            return True
        return not self._texts.isdisjoint(_words(part.value) for part in _telling(parts))

    def _is_withheld(self, parts: Parts) -> bool:
        cited = filter(None, (cited_field(self._facts, part.value) for part in parts["path"]))
        names = (part.value for part in (*parts["name"], *parts["code"]) if isinstance(part.value, str))
        return any(map(self._redaction.covers, cited)) or any(map(self._redaction.covers_name, names))


def _telling(parts: Parts) -> list[Fact]:
    """What a reason or factor is known by: its name or code, or its value if it has nothing else."""
    in_words = any(is_prose(part.value) for part in parts["prose"])
    names = [part for part in parts["name"] if is_prose(part.value)]
    codes = [part for part in parts["code"] if part.is_scalar and not is_blank(part.value) and not in_words]
    values = [] if in_words else [each for part in parts["value"] for each in part.scalars()]
    return [*names, *codes] or values


def _is_told_with(fact: Fact) -> bool:
    """Whether a field goes without saying once its factor is told: its name, the path it cites, a known direction."""
    meaning = outcome_parts.key(fact.name, fact.value)
    if meaning == "direction":
        return outcome_parts.direction(fact.value) is not None
    if meaning == "name" and fact.parent:
        return not parts_of(fact.parent)["prose"]
    return meaning == "path"


def _is_reason(item: Fact) -> bool:
    return any(outcome_parts.container(each.name) == "reason" for each in item.lineage()[1:] if not each.in_list)


def _alone(facts: Facts, fact: Fact) -> outcome_parts.Kind:
    """What a code is that nothing tells: a reason, unless it stands beside others in words."""
    names = [each.name for each in fact.lineage()[1:] if not each.in_list]
    meaning = outcome_parts.key(fact.name)
    if meaning in _NO_CODES or (meaning in ("name", "prose") and not isinstance(fact.value, str)):
        return "code"
    if names[0] == "reason_codes":
        reasons = facts.get("outcome.reasons")
        return "reason" if outcome_parts.has_more(facts.get("outcome.reason_codes"), reasons) else "code"
    if outcome_parts.container(names[0]) != "reason" or len(names) == 1:
        return "code"
    item = parts_of(fact.parent) if fact.parent and isinstance(fact.parent.value, dict) else {}
    return "code" if item and (item["prose"] or item["name"]) else "reason"


def _filled(facts: Facts, pack: Pack, content: Mapping[str, Any]) -> dict[str, str]:
    """Where the pack's texts may say what the record has at a path."""
    texts = " ".join((*content.get("rights", []), *(str(content.get(name, "")) for name in _TEXTS)))
    return {facts.real(path): texts for paths in pack.from_record.values() for path in paths}


_TEXTS = ("how_to_request_inputs", "how_to_request_review", "deadline_note")


def _reading(fact: Fact) -> str:
    """What a reader knows a reason by: its text, or the key that names it with its number, as in
    `{"late_payments": 3}`."""
    if isinstance(fact.value, str) or fact.in_list or outcome_parts.key(fact.name):
        return _words(fact.value)
    name = " ".join(words_of(fact.name))
    return _words(name if fact.value is True else f"{name}: {fact.value}")


def _words(value: Any) -> str:
    """A value in one spelling: a reason that is there twice is told once."""
    return spell_out(str(value)).rstrip(".").casefold()


def _path(fact: Fact) -> str:
    """The path of a field, or as much of it as an answer holds."""
    if fact.path_length <= MOST_SOURCE:
        return fact.path
    return ".".join(each.step[:100] for each in fact.lineage()[:20]) + "…"
