"""Differences between versions of a mapping, and the author of each entry."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from decisions.mapping.entry_words import description
from decisions.mapping.models import MappingVersion
from decisions.record.meanings import Entry


@dataclass(frozen=True, slots=True)
class Change:
    """A field whose entry differs between two versions.

    Attributes:
        before, after: the entry in words, empty if there is none.
        author: the version that brought the entry, or None if it was removed.
        entry: the entry as it is now, or None.
    """

    path: str
    before: Sequence[str]
    after: Sequence[str]
    author: MappingVersion | None
    entry: Mapping[str, Any] | None


def authors(versions: Sequence[MappingVersion]) -> dict[str, MappingVersion]:
    """Return for each entry of the last version, by its path, the version that wrote it as it is.

    Args:
        versions: all versions of a mapping up to this one, in order.
    """
    before: dict[str, tuple[Any, MappingVersion]] = {}
    for version in versions:
        now = {}
        for entry in version.entries:
            known = before.get(entry["path"])
            now[entry["path"]] = known if known and known[0] == entry else (entry, version)
        before = now
    return {path: version for path, (_, version) in before.items()}


def changes(versions: Sequence[MappingVersion], since: MappingVersion | None) -> list[Change]:
    """Return the entries of the last version that differ from those of an earlier one, and the removed ones.

    Args:
        versions: all versions up to this one, in order.
        since: the confirmed version, or None if there is none.
    """
    written = authors(versions)
    before = {entry["path"]: entry for entry in since.entries} if since else {}
    after = {entry["path"]: entry for entry in versions[-1].entries}
    return [
        Change(path, _words(before.get(path)), _words(after.get(path)), written.get(path), after.get(path))
        for path in [*after, *(path for path in before if path not in after)]
        if before.get(path) != after.get(path)
    ]


def _words(entry: Mapping[str, Any] | None) -> list[str]:
    return description(Entry.model_validate(entry)) if entry else []
