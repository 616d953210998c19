"""Fields of the outcome that no statement of a letter tells, so that none is left out in silence."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from decisions.mapping.projection import place
from decisions.record.profile import Factor, Value
from notices.drafting import Redaction
from notices.drafting.sections import is_part_of_factor, item_of, repeated_codes
from notices.packs import STATEMENT_FIELDS, Pack
from notices.record_paths import Facts

MOST = 1000
"""Untold fields that an answer or a page lists."""
Kind = Literal["decided", "reason", "condition", "missing", "offer", "term", "detail"]
_KINDS: Mapping[str, Kind] = {
    "decision": "decided",
    "reason": "reason",
    "factor": "reason",
    "condition": "condition",
    "missing": "missing",
    "offer.text": "offer",
    "offer.amount": "offer",
    "offer.rate": "term",
    "offer.term": "term",
    "offer.until": "term",
}
_NEVER_LOST = frozenset({"reason", "condition", "missing", "offer", "term"})


@dataclass(frozen=True, slots=True)
class Untold:
    """A field that no statement cites. If it `blocks`, a letter has to tell it, or the organization to withhold it."""

    path: str
    kind: Kind
    blocks: bool

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def find(facts: Facts, pack: Pack, redaction: Redaction, content: Mapping[str, Any]) -> Iterator[Untold]:
    """Yield the untold fields, in the record's order. Withheld fields are none of them."""
    cited = {item["source"] for name in STATEMENT_FIELDS for item in content.get(name, [])}
    items = {item_of(source) for source in cited}
    known = cited | repeated_codes(facts.profile.values)
    for value in facts.profile.values:
        path = value.origin.path
        kind = _KINDS.get(value.origin.meaning) or ("detail" if _is_detail(value, pack) else None)
        if kind is None or path in known or redaction.covers(facts.signed_fact(path)):
            continue
        is_told_beside = isinstance(value, Factor) and not cited.isdisjoint(value.beside)
        if not is_told_beside and item_of(path) not in items:
            yield Untold(path, kind, blocks=kind in _NEVER_LOST)
    listed = {value.origin.path for value in facts.profile.values}
    for unknown in facts.unexplained:
        if unknown.path not in cited | listed:
            yield Untold(unknown.path, "detail", blocks=False)


def _is_detail(value: Value, pack: Pack) -> bool:
    """Whether a field of the outcome is no more than a detail that the pack neither prints nor decides by."""
    if is_part_of_factor(value):
        return False
    name = place(value.origin) or value.origin.path
    decides = {path for part in (*pack.elements, *pack.clocks, *pack.locked) for path in part.when.record_paths}
    filled = {path for paths in pack.from_record.values() for path in paths}
    is_flag = isinstance(value.origin.stored, bool)
    return name.startswith("outcome.") and not is_flag and name not in decides | filled
