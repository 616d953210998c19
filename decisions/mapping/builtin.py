"""The built-in mapping: the published profile of docs/srf-record.md. It reads records of systems without a mapping."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

from custody.sealing import field_paths
from decisions.mapping.suggest import Proposal, propose
from decisions.record import outcomes, profile
from decisions.record.meanings import Entry, Value
from decisions.record.profile import Input, Origin, Profile
from decisions.record.walk import Scalar, Table

__all__ = ["Proposal", "RecordReading", "read"]

_DECISION = (outcomes.PATHS[0], *outcomes.INSTEAD, outcomes.PATHS[1])
"""The fields that may say what was decided: the action, else the first with a known word, else the first."""
_MAX_WORD = 256  # characters


_SEVERAL = frozenset({"reason", "factor", "condition", "consequence", "missing", "profile"})
"""Meanings that several fields of a record have. Of the others, the field of the system's own mapping counts."""


@dataclass(frozen=True)
class RecordReading:
    """A record as its system's mapping and the published profile read it.

    Attributes:
        record: the record, with numbers as int or Decimal.
        profile: the values that a letter may tell. Without a mapping, the inputs are the fields that the proposer takes
            for plain information, without their values.
    """

    record: dict[str, Any]
    profile: Profile

    @cached_property
    def proposals(self) -> list[Proposal]:
        """The proposed entries of the fields that nothing explains, those with a question first."""
        general = {scalar.general for scalar in self.profile.unmapped}
        general |= {field.general for field in self.profile.unknown}
        return [proposal for proposal in propose([self.record]) if proposal.field.path in general]


def read(record: dict[str, Any], own: Table | None = None) -> RecordReading:
    """Return the reading of a record.

    Args:
        record: the record, with numbers as int or Decimal.
        own: the entries of its system's mapping.
    """
    below = _table(*_decision(record), own.meanings - _SEVERAL if own else frozenset())
    reading = RecordReading(record, profile.read(record, *([own] if own else []), below))
    if own is None:
        _add_inputs(reading)
    return reading


def _add_inputs(reading: RecordReading) -> None:
    """Make inputs of the fields that the proposer takes for plain information."""
    known = reading.profile
    unmapped = {scalar.general: scalar for scalar in reversed(known.unmapped)}
    plain = [item.field.path for item in reading.proposals if _is_plain_input(item, unmapped)]
    known.values += [_input(unmapped[path]) for path in plain]
    known.unmapped = [scalar for scalar in known.unmapped if scalar.general not in plain]


def _input(scalar: Scalar) -> Input:
    return Input(Origin(scalar.path, scalar.value, "", "input", {}, scalar.general), None)


def _is_plain_input(proposal: Proposal, fields: dict[str, Scalar]) -> bool:
    """Whether the proposer is sure of a field that holds plain information, and more than the name of its event."""
    path, entry = proposal.field.path, proposal.entry
    is_input = path in fields and entry is not None and entry["means"] == "input" and not proposal.question
    return is_input and field_paths.keys(path)[1] != fields[path].value


def _decision(record: dict[str, Any]) -> tuple[str, str]:
    """Return the path of the decision and its word, both "" if the record has none."""
    words = [(path, word) for path in _DECISION if isinstance(word := _at(record, path), str) and word.strip()]
    known = (item for item in words if item[0] == _DECISION[0] or outcomes.outcome(item[1]))
    path, word = next(known, next(iter(words), ("", "")))
    return path, word if len(word) <= _MAX_WORD else ""


def _at(record: dict[str, Any], path: str) -> Any:
    try:
        return field_paths.value_at(record, path)
    except field_paths.NoSuchField:
        return None


@lru_cache(maxsize=1024)
def _table(path: str, word: str, own: frozenset[str]) -> Table:
    """Return the entries for records that have their decision at a path, in this word.

    Args:
        own: meanings that the system's own mapping has.
    """
    kind = outcomes.outcome(word)
    values = {word: Value.model_validate({"outcome": kind.word, "relation": "equivalent"})} if kind else {}
    decision = [Entry(path=path, means="decision", values=values, unmapped="as_written")] if path else []
    entries = (entry for entry in (*decision, *_entries()) if entry.means not in own)
    return Table({entry.path: entry for entry in reversed([*entries])}.values())


@cache
def _entries() -> tuple[Entry, ...]:
    return tuple(Entry(source="builtin", **entry) for entry in _written())


def _written() -> Iterator[dict[str, Any]]:
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    for means, paths in tables["means"].items():
        for path in paths:
            beside = {"value": ".value", "direction": ".direction"} if path.endswith(".factor") else {}
            yield from _field(path, means=means, **beside)
    for path in tables["profile"]["paths"]:
        yield from _field(path, means="profile", **{"as": path.replace(".*", "")})
    amounts = tables["amounts"]
    for currency in amounts.pop("currencies"):
        for means, paths in amounts.items():
            for path in paths:
                name = f"{path}_{currency}"
                options = {"as": name} if means == "profile" else {"currency": currency.upper()}
                yield {"path": name, "means": means, **options}
    for means, paths in tables["rates"].items():
        yield from ({"path": path, "means": means, "scale": "percent"} for path in paths)
    for unit, paths in tables["terms"].items():
        yield from ({"path": path, "means": "offer.term", "unit": unit} for path in paths)


def _field(path: str, **options: Any) -> Iterator[dict[str, Any]]:
    """Yield the entries of a field, and of the items of a list there."""
    yield {"path": path, **options}
    if not path.endswith((".value", ".path", ".direction")):
        yield {"path": f"{path}.*", **options}
