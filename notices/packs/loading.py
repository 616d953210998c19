"""Loading of packs from their directories, with errors that name file and line."""

import hashlib
import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from notices.packs.consistency import PACK_FILE, Defect, defects, text_file
from notices.packs.lines import Lines
from notices.packs.models import Pack, Text

DIRECTORY = Path(__file__).resolve().parent

Part = TypeVar("Part", bound=BaseModel)


class BrokenPack(Exception):
    """A pack has defects. `problems` are sentences that begin with file and line."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class _Files:
    """The files of one pack, and their problems."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.problems: list[str] = []
        self.bytes: dict[str, bytes] = {}
        self._lines: dict[str, Lines] = {}

    def read(self, name: str) -> dict[str, Any] | None:
        """Return the tables of a TOML file. If it cannot be read, add a problem and return None."""
        try:
            self.bytes[name] = (self.directory / name).read_bytes()
            text = self.bytes[name].decode()
            self._lines[name] = Lines(text)
            return tomllib.loads(text)
        except OSError as error:
            self.problem(name, 1, f"cannot be read: {error.strerror}")
        except UnicodeDecodeError as error:
            line = self.bytes[name].count(b"\n", 0, error.start) + 1
            self.problem(name, line, "is not UTF-8")
        except tomllib.TOMLDecodeError as error:
            self.problem(name, _syntax_line(str(error), text), f"is no TOML: {error}")
        return None

    def problem(self, name: str, line: int, what: str) -> None:
        self.problems.append(f"{self._display_name(name)}:{line}: {what}")

    def defect(self, defect: Defect) -> None:
        line = self._lines[defect.file].of(defect.location)
        self.problem(defect.file, line, _about(defect.location) + defect.problem)

    def model(self, kind: type[Part], name: str) -> Part | None:
        tables = self.read(name)
        if tables is None:
            return None
        try:
            return kind.model_validate(tables)
        except ValidationError as error:
            for one in error.errors():
                self.defect(Defect(name, one["loc"], one["msg"].removeprefix("Value error, ")))
            return None

    def digest(self) -> str:
        """Return the SHA-256 over each file's name, length and bytes, in the order of the names."""
        whole = hashlib.sha256()
        for name in sorted(self.bytes):
            whole.update(f"{name}\n{len(self.bytes[name])}\n".encode() + self.bytes[name])
        return whole.hexdigest()

    def _display_name(self, name: str) -> str:
        return f"{self.directory.name}/{name}"


def load(directory: Path) -> Pack:
    """Read and check one pack.

    Raises:
        BrokenPack: with every problem, each with file and line.
    """
    files = _Files(directory)
    pack = files.model(Pack, PACK_FILE)
    if pack is None:
        raise BrokenPack(files.problems)
    texts = {language: files.model(Text, text_file(language)) for language in pack.languages}
    pack._texts = MappingProxyType({language: text for language, text in texts.items() if text})
    pack._digest = files.digest()
    if pack.id != directory.name:
        files.defect(Defect(PACK_FILE, ("id",), f"the directory is named {directory.name!r}"))
    for name in sorted(path.name for path in directory.iterdir()):
        if name not in files.bytes:
            files.problem(name, 1, "belongs to no language that pack.toml names")
    for defect in defects(pack):
        files.defect(defect)
    if files.problems:
        raise BrokenPack(files.problems)
    return pack


def directories(root: Path = DIRECTORY) -> list[Path]:
    """Return the directories that must each hold a pack."""
    return sorted(path for path in root.iterdir() if path.is_dir() and path.name[0] not in "._")


def load_all(root: Path = DIRECTORY) -> dict[str, Pack]:
    """Return every pack by its id. Raises BrokenPack with the problems of all packs."""
    loaded: dict[str, Pack] = {}
    problems: list[str] = []
    for directory in directories(root):
        try:
            loaded[directory.name] = load(directory)
        except BrokenPack as error:
            problems.extend(error.problems)
    if problems:
        raise BrokenPack(problems)
    return loaded


@cache
def packs() -> dict[str, Pack]:
    """Return `load_all()`, cached."""
    return load_all()


def _about(location: Sequence[str | int]) -> str:
    """Return a location as in `elements[3].clock: `, counted from 1."""
    name = "".join(f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in location)
    return f"{name.removeprefix('.')}: " if name else ""


def _syntax_line(message: str, text: str) -> int:
    match = re.search(r"at line (\d+)", message)
    return int(match[1]) if match else text.count("\n") + 1
