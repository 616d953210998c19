"""What a law forbids to decide by, found in names of fields and in sentences. Packs say which law forbids which."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from notices.record_paths import Fact
from notices.sensitive.names import Names, words_of
from notices.sensitive.plain import plain
from notices.sensitive.spelling import spelling

__all__ = ["ProhibitedBases", "basis_ids", "prohibited_bases", "title_of"]

_TOKEN = re.compile(r"[^\W_]+")
# Frau Berger is addressed, and eine Frau is not. Who is called Christian or White tells neither religion nor color.
_ADDRESSED = re.compile(
    r"(?<![Ee]ine )(?<![Ee]iner )(?<![Jj]ede )(?<![Aa]ls )(?<!\w)"
    r"(?:(?:Frau|Herrn?|Mmes?|Mlle|Madame|Monsieur|Mrs|Mr|Ms)\b|M\.)\.?"
    r"(?: (?:Dr|Prof|Pr)\b\.?)* [A-ZÀ-Þ][\w'-]+"
)
_LONGEST_VALUE = 20
_APOSTROPHES = re.compile("['\u2018\u2019]")


@cache
def _tables() -> Mapping[str, Any]:
    return tomllib.loads((Path(__file__).parent / "bases.toml").read_text("utf-8"))


def basis_ids() -> frozenset[str]:
    """Those that a pack can name."""
    return frozenset(_tables()["bases"])


def title_of(basis: str) -> str:
    return str(_tables()["bases"][basis]["title"])


@lru_cache(maxsize=64)
def prohibited_bases(ids: tuple[str, ...]) -> "ProhibitedBases":
    """The bases of a pack, put together once."""
    return ProhibitedBases(ids)


class ProhibitedBases:
    """Some of the bases, by their ids."""

    def __init__(self, ids: Iterable[str]) -> None:
        tables = {each: _tables()["bases"][each] for each in ids}
        self._names = Names(
            ((basis, name) for basis, table in tables.items() for name in table["names"]),
            ((basis, name) for basis, table in tables.items() for name in table.get("whole", ())),
        )
        self._beginnings = Names((basis, name) for basis, table in tables.items() for name in table.get("begins", ()))
        self._only_as = {
            words_of(name): (basis, frozenset(each["values"]))
            for basis, table in tables.items()
            for each in table.get("only_as", ())
            for name in each["whole"]
        }
        self._granted = frozenset(basis for basis, table in tables.items() if table.get("is_granted"))
        self._words: dict[str, list[tuple[str, list[str]]]] = {}
        for basis, table in tables.items():
            for words in table["words"]:
                first, *rest = words.split(" ")
                self._words.setdefault(first[:1], []).append((basis, [first, *rest]))
        self._things = _words("things")
        self._around = spelling("person") | spelling("asking") | _words("around")

    def of(self, fact: Fact) -> str:
        """Return the basis that a field is about by its own name, or "". The parts above it have bases of their own.

        What was decided may be a disability benefit: in the outcome only the basis itself counts, but for reasons and
        factors, and none for which something may be granted.
        """
        above = fact.parent.field if fact.parent and fact.parent.parent else None
        is_decided, is_unnamed = _is_decided(fact), fact.in_list and fact.name == fact.step
        words = () if is_unnamed else words_of(fact.name)
        own = self._valued(words, fact.value) or self._named(
            words, words_of(above.name) if above else (), is_all=is_decided
        )
        return "" if is_decided and own in self._granted else own

    def named(self, name: str) -> str:
        """The basis that something is about that is called so, as a factor is."""
        return self._named(words_of(name), ())

    def told(self, text: str) -> Iterator[str]:
        """The bases that a sentence speaks of, each once."""
        words = [word.casefold() for word in _TOKEN.findall(_APOSTROPHES.sub("", _ADDRESSED.sub(";", plain(text))))]
        found = (
            basis
            for start, word in enumerate(words)
            for basis, pattern in self._words.get(word[:1], ())
            if len(words) >= start + len(pattern) and all(map(_fits, pattern, words[start : start + len(pattern)]))
        )
        return iter(dict.fromkeys(found))

    def _valued(self, words: tuple[str, ...], value: Any) -> str:
        """The basis that words of several meanings name beside such a value."""
        basis, values = self._only_as.get(tuple(word for word in words if word not in self._around), ("", ()))
        is_short = isinstance(value, str | bool) and len(str(value)) <= _LONGEST_VALUE
        return basis if is_short and str(value).strip(" .").casefold() in values else ""

    def _named(self, words: tuple[str, ...], above: tuple[str, ...], *, is_all: bool = False) -> str:
        """The basis that some words name.

        Args:
            is_all: it has to be all that they name.
        """
        is_of_person = self._things.isdisjoint(above)
        for match in self._names.find(words):
            rest = {*words[: match.start], *words[match.end :]}
            if not (match.is_whole or is_all) or (rest <= self._around and is_of_person):
                return match.group
        for match in self._beginnings.find(words):
            if is_of_person and {*words[: match.start]} <= self._around:
                return match.group
        return ""


def _words(table: str) -> frozenset[str]:
    return frozenset(word for name in _tables()[table] for word in words_of(name))


def _is_decided(fact: Fact) -> bool:
    """Whether a field says what was decided, and not by what."""
    match fact.lineage():
        case [Fact(name="outcome"), Fact(name=name), *_]:
            return {"factor", "reason"}.isdisjoint(words_of(name))
        case [Fact(name="outcome")]:
            return True
    return False


def _fits(pattern: str, word: str) -> bool:
    return word.startswith(pattern[:-1]) if pattern.endswith("*") else word == pattern
