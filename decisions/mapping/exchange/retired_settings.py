"""Entries from the settings that mappings replace: phrasebooks, names of sensitive fields, and field maps.

The functions take plain values and know no models, so that a migration can use them with the rows of its time.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pydantic import ValidationError

from decisions.mapping.suggest.proposals import PUBLISHED
from decisions.mapping.suggest.vocabulary import words
from decisions.record import patterns
from decisions.record.meanings import MAX_VALUES, Entry

CODE_PATHS = ("outcome.reasons.*.code", "outcome.reason_codes.*")
"""The fields of the published record that have reason codes."""


class PhraseRow(NamedTuple):
    """A row of a phrasebook. `key` is a reason code, or the path or name of a field."""

    language: str
    key: str
    sentence: str = ""
    label: str = ""
    withheld: bool = False


@dataclass(slots=True)
class Converted:
    """Entries, and the settings that a person has to convert, as keys or names."""

    entries: list[Entry] = field(default_factory=list)
    leftover: list[str] = field(default_factory=list)

    def add(self, **options: Any) -> bool:
        """Add an entry, unless its path has one. Return whether the options make one."""
        try:
            entry = Entry.model_validate({"source": "own", **options})
        except ValidationError:
            return False
        if all(entry.path != known.path for known in self.entries):
            self.entries.append(entry)
        return True


def converted(
    phrases: Iterable[PhraseRow],
    sensitive: Iterable[str],
    field_map: Mapping[str, Any] | None,
    paths: Sequence[str],
) -> Converted:
    """Return the entries for the records of one system. An entry that withholds a field comes before any other.

    Args:
        phrases: the phrasebook of the organization, in all languages.
        sensitive: the names of fields that the organization withholds.
        field_map: the map of the connector that the records come by: `fields`, `constants` and `original`.
        paths: the general paths of the system's records.
    """
    result = Converted()
    by_key: dict[str, list[PhraseRow]] = {}
    for row in phrases:
        by_key.setdefault(row.key, []).append(row)
    _withhold_names(result, sensitive, paths)
    _withhold_phrases(result, by_key, paths)
    _label_fields(result, by_key, paths)
    _explain_codes(result, by_key, paths)
    if field_map is not None:
        _follow_map(result, field_map)
    return result


def _withhold_names(result: Converted, sensitive: Iterable[str], paths: Sequence[str]) -> None:
    """Withhold each field that has the name, or is below one: old settings matched names at any depth."""
    for name in sensitive:
        matching = [path for path in paths if any(words(key) == words(name) for key in _keys(path))]
        for path in matching:
            result.add(path=path, means="not_told", **{"class": "secret"}, why=f"the sensitive field {name}")
        if not matching:
            result.leftover.append(name)


def _withhold_phrases(result: Converted, by_key: Mapping[str, list[PhraseRow]], paths: Sequence[str]) -> None:
    for key, rows in by_key.items():
        if any(row.withheld for row in rows):
            matching = _fields(key, paths)
            for path in matching:
                result.add(path=path, means="not_told", **{"class": "internal"}, why="withheld by the phrasebook")
            if not matching:
                result.leftover.append(key)


def _label_fields(result: Converted, by_key: Mapping[str, list[PhraseRow]], paths: Sequence[str]) -> None:
    """Name the fields that have a label: information that was used, or a field of the published record."""
    for key, rows in by_key.items():
        labels = {row.language: row.label for row in rows if row.label}
        if not labels or any(row.withheld for row in rows):
            continue
        matching = _fields(key, paths)
        made = [_label(result, path, labels) for path in matching]
        if not (made and all(made)) or any("{value}" in row.sentence for row in rows):
            result.leftover.append(key)


def _label(result: Converted, path: str, labels: dict[str, str]) -> bool:
    why = "the label of the phrasebook"
    if path.startswith("events."):
        return result.add(path=path, means="input", label=labels, why=why)
    return result.add(path=path, means="profile", **{"as": path}, label=labels, why=why)


def _explain_codes(result: Converted, by_key: Mapping[str, list[PhraseRow]], paths: Sequence[str]) -> None:
    """Give each field of reason codes one table with the sentences of all keys that are no fields."""
    table: dict[str, dict[str, str]] = {}
    for key, rows in by_key.items():
        sentences = {row.language: row.sentence for row in rows if row.sentence}
        if not sentences or any(row.withheld or row.label for row in rows):
            continue
        if _fields(key, paths) or any("{value}" in text for text in sentences.values()) or len(table) == MAX_VALUES:
            result.leftover.append(key)
        else:
            table[key] = {**sentences, "relation": "equivalent"}
    for path in CODE_PATHS if table else ():
        result.add(path=path, means="reason", values=table, why="the sentences of the phrasebook")


def _follow_map(result: Converted, field_map: Mapping[str, Any]) -> None:
    """Explain the fields that a map fills, and withhold the item that they are from: its values are told once."""
    for target in [*field_map.get("fields", {}), *field_map.get("constants", {})]:
        means = {"means": PUBLISHED[target]} if target in PUBLISHED else {"means": "profile", "as": target}
        if not result.add(path=target, **means, why="a field of the connector's map"):
            result.leftover.append(target)
    original = patterns.general_segment(field_map.get("original", "original"))
    result.add(
        path=f"{original}.**", means="not_told", **{"class": "internal"}, why="the item as the connector read it"
    )


def _fields(key: str, paths: Sequence[str]) -> list[str]:
    """Return the paths that a key of a phrasebook names: as a path, with positions or without, or as a field's name."""
    named = [path for path in paths if path == key or path.replace(".*", "") == key]
    return named or [path for path in paths if _keys(path)[-1:] == [key]]


def _keys(path: str) -> list[str]:
    """Return the keys of a path, without positions."""
    return [step.key for step in patterns.parse(path).steps if step.key is not None]
