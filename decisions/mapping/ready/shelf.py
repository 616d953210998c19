"""The ready mappings, read from their files."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from config.errors import NotFound
from decisions.record.meanings import Entry

_FILES = Path(__file__).parent
_COMMON = "common"


class ReadyMapping(BaseModel):
    """A ready mapping.

    Attributes:
        source: where its fields and codes are published. `licence` is that of the source.
        version: the version of the system or text that it is for.
        below: the place of the system's output in a record.
        notes: the parts that it leaves to the organization.
        codes: code tables, by name.
        rows: entries with paths below that place. `codes` of a row names its tables.
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    name: str
    title: str
    version: str
    source: list[str]
    licence: str
    below: str
    notes: str
    codes: dict[str, dict[str, dict[str, str]]] = {}
    rows: list[dict[str, Any]] = Field(alias="entries")

    @property
    def entries(self) -> list[Entry]:
        """The entries for records that have the system's output at its usual place."""
        return self.entries_below(self.below)

    def entries_below(self, place: str) -> list[Entry]:
        """Return the entries for records that have the system's output at a place, "" for the top, and those of the
        published fields around it."""
        paths = [f"{place}.{row['path']}" if place else row["path"] for row in self.rows]
        own = [self._entry(row, path) for row, path in zip(self.rows, paths, strict=True)]
        around = [self._entry(row, row["path"]) for row in _common() if row["path"] not in paths]
        return [*around, *own]

    def _entry(self, row: dict[str, Any], path: str) -> Entry:
        options = {name: value for name, value in row.items() if name != "codes"}
        if tables := row.get("codes"):
            options["values"] = {code: value for table in tables for code, value in self.codes[table].items()}
        return Entry.model_validate(options | {"path": path, "source": "ready", "why": f"{self.title}, {self.version}"})


@cache
def all_mappings() -> dict[str, ReadyMapping]:
    """Return the ready mappings by name."""
    names = sorted(path.stem for path in _FILES.glob("*.toml") if path.stem != _COMMON)
    return {name: ReadyMapping.model_validate({"name": name, **_content(name)}) for name in names}


def mapping(name: str) -> ReadyMapping:
    """Return a ready mapping. Raises NotFound."""
    try:
        return all_mappings()[name]
    except KeyError:
        raise NotFound from None


@cache
def _common() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = _content(_COMMON)["entries"]
    return rows


def _content(name: str) -> dict[str, Any]:
    return tomllib.loads((_FILES / f"{name}.toml").read_text())
