"""The values of a profile that each section of a letter tells, in order."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from decisions.mapping.projection import place
from decisions.record import outcomes
from decisions.record.profile import Factor, Input, Value
from notices.packs import Element, Pack
from notices.record_paths import Facts, is_as_written

_SUMMARY: Final = (
    "reconsiders.decision_id", "object", "object.amount", "outcome.result", "decision", "outcome.changes", "decided",
    "effective",
    "outcome.days_approved", "outcome.days_denied", "outcome.days_requested", "outcome.units_approved",
    "outcome.granted", "outcome.refused", "outcome.referred_to", "outcome.next_step", "outcome.decision_due",
    "outcome.valid_until", "offer.text", "offer.amount", "offer.rate", "offer.term", "offer.until",
    "condition", "missing", "consequence",
)  # fmt: skip
_ROLE: Final = (
    "system.name", "system.version", "system.provider", "system.purpose", "automation", "outcome.solely_automated",
    "human",
    "approval.authority", "outcome.sole_factor", "outcome.materially_influenced_by_system",
)  # fmt: skip
"""The meanings, or fields of the published profile, that a section tells unasked."""
_WEIGHT = frozenset({"outcome.sole_factor", "outcome.materially_influenced_by_system"})
_CODES: Final = "outcome.reason_codes"
_FACTORS: Final = "outcome.principal_factors."
_CHANGE: Final = "outcome.what_would_have_changed"
_UNDECIDED = frozenset({"referred", "pending", "incomplete", "withdrawn"})
_TECHNICAL = re.compile(r"(?i)(?:sha\d+[:\-]|\S*@)[0-9a-f]+|(?=\S*\d)(?=\S*[a-f])[0-9a-f]{7,}")
"""Hashes, which say nothing to a reader."""
_PAID = re.compile(r"outcome\.(?:previous_)?(?:monthly_)?amount(?:_[a-z]+)*")
"""Amounts that were decided, which the published profile names with their currency."""

Sections = Mapping[str, list[Value]]


class Selection:
    """Chooses the values for each section of a letter under a pack."""

    def __init__(self, facts: Facts, pack: Pack, has_words: Callable[[Value], bool]) -> None:
        """
        Args:
            has_words: whether the words for a reason's code are known.
        """
        self._facts, self._pack, self._has_words = facts, pack, has_words
        self._by_name: dict[str, list[Value]] = {}
        self._published: list[tuple[str, Value]] = []
        for value in facts.profile.values:
            self._by_name.setdefault(_name(value), []).append(value)
            if not (isinstance(value, Input) or is_part_of_factor(value)):
                self._published.append((f"{place(value.origin) or facts.named(value.origin.path)}.", value))

    def sections(self) -> Sections:
        """Return the values of each list of statements."""
        reasons = _told_once(self._by_name.get("reason", []), self._has_words)
        factors = [value for value in self._facts.profile.values if isinstance(value, Factor)]
        # A law that wants few reasons gets the reasons; factors are then among the information used.
        is_brief = bool(reasons) and any(
            element.check == "max_items" and element.where == "main_factors" for element in self._pack.elements
        )
        inputs = [value for value in self._facts.profile.values if isinstance(value, Input)]
        return {
            "decision_summary": self._summary(),
            "role_of_automated_system": self._role(),
            "main_factors": [*reasons, *([] if is_brief else factors), *self._by_name.get(_CHANGE, [])],
            "inputs_used": [*(factors if is_brief else []), *inputs],
        }

    def requested(self) -> Iterator[tuple[Element, list[Value]]]:
        """Yield the elements of the pack that ask for fields by name, each with the values there."""
        for element in self._pack.elements:
            paths = tuple(f"{path}." for path in element.paths if "." in path)
            if paths and element.check == "cited" and element.applies_to(self._facts.get):
                yield element, [value for name, value in self._published if name.startswith(paths)]

    def _summary(self) -> list[Value]:
        paid = [name for name in self._by_name if _PAID.fullmatch(name)]
        names = [*_SUMMARY[:8], *paid, *_SUMMARY[8:]]
        if outcomes.is_said_twice(self._facts.get):
            names.remove("outcome.result")
        values = self._named([*names, *(["approval.authority"] if self._facts.get("reconsiders") else [])])
        # Under a law, no letter says a decision whose word no one has explained.
        return values if self._pack.advisory else [value for value in values if not is_as_written(value)]

    def _role(self) -> list[Value]:
        values = self._named(_ROLE)
        if self._facts.get("reconsiders"):  # who reconsidered says nothing of a system
            values = [value for value in values if not value.origin.meaning.startswith(("approval.", "human"))]
        kind = outcomes.kind(outcomes.said(self._facts.get))
        is_decided = str(kind) not in _UNDECIDED or self._facts.get("outcome.result") is not None
        return [value for value in values if self._is_worth_telling(value, is_decided=is_decided)]

    def _is_worth_telling(self, value: Value, *, is_decided: bool) -> bool:
        if _name(value) in _WEIGHT:
            return is_decided and value.origin.stored is True
        if _name(value) == "outcome.solely_automated" and not isinstance(value.origin.stored, bool):
            return False  # no one can tell which, and the checklist says so
        is_version = value.origin.meaning == "system.version"
        return not (is_version and _TECHNICAL.fullmatch(str(value.origin.stored)))

    def _named(self, names: Iterable[str]) -> list[Value]:
        return [value for name in names for value in self._by_name.get(name, [])]


def is_part_of_factor(value: Value) -> bool:
    """Whether a value is beside the name of a factor, which is printed or withheld with it."""
    return value.origin.meaning == "profile" and value.origin.path.startswith(_FACTORS)


def _name(value: Value) -> str:
    """Return the field of the published profile that a value is, if packs ask for it by that name, or its meaning."""
    return value.origin.profile_path or "" if value.origin.meaning == "profile" else value.origin.meaning


def repeated_codes(values: Iterable[Value]) -> set[str]:
    """Return the paths of the reason codes that stand for reasons in words: no more codes than reasons."""
    reasons = [value for value in values if value.origin.meaning == "reason"]
    codes = {reason.origin.path for reason in reasons if reason.origin.path.startswith(_CODES)}
    items = {item_of(reason.origin.path) for reason in reasons} - codes
    return codes if len(codes) <= len(items) else set()


def item_of(path: str) -> str:
    """Return the path of the reason that a code or text belongs to, or the path itself."""
    stem, _, key = path.rpartition(".")
    return stem if key in ("code", "text") else path


def _told_once(reasons: list[Value], has_words: Callable[[Value], bool]) -> list[Value]:
    """Return reasons, each once: by the words for its code, else by the text beside the code."""
    repeated, items = repeated_codes(reasons), dict[str, list[Value]]()
    for reason in reasons:
        if reason.origin.path not in repeated:
            items.setdefault(item_of(reason.origin.path), []).append(reason)
    return [reason for item in items.values() for reason in _item_once(item, has_words)]


def _item_once(item: list[Value], has_words: Callable[[Value], bool]) -> list[Value]:
    code = next((reason for reason in item if reason.origin.path.endswith(".code")), None)
    if code is None or len(item) == 1:
        return item
    return [code] if has_words(code) else [reason for reason in item if reason is not code]
