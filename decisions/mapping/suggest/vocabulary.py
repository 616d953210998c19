"""Words of field names, and what a field with such a name may mean."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import get_args

from decisions.record.meanings import OutcomeKind

_WORD = re.compile(r"[A-ZÄÖÜ]+(?![a-zäöü])|[A-ZÄÖÜ]?[^\W\d_A-ZÄÖÜ]+|\d+")
_MAX_NAME = 256  # characters


@cache
def vocabulary() -> dict[str, dict[str, list[str]]]:
    """Return the words by group and meaning, as `vocabulary.toml` has them."""
    with (Path(__file__).parent / "vocabulary.toml").open("rb") as file:
        return tomllib.load(file)


def words(name: str) -> list[str]:
    """Return the words of a field's name: `maxAmountFinanced` and `max_amount_financed` have the same three."""
    return [word.casefold() for word in _WORD.findall(name[:_MAX_NAME])]


def meaning(group: str, name_words: list[str]) -> tuple[str, str] | None:
    """Return the first meaning of a group that the words of a name have, and the words that say so."""
    text = " ".join(name_words)
    for name, pattern in _patterns(group).items():
        if match := pattern.search(text):
            return name, match[0]
    return None


def has(group: str, name: str, name_words: list[str]) -> bool:
    """Whether the words of a name have one meaning of a group."""
    return _patterns(group)[name].search(" ".join(name_words)) is not None


def outcome_of(code: str) -> str | None:
    """Return the outcome that a code spells, or None."""
    if code in get_args(OutcomeKind):
        return code
    spelling = "".join(letter for letter in code.casefold() if letter.isalnum())
    return next((kind for kind, codes in vocabulary()["outcomes"].items() if spelling in codes), None)


@cache
def _patterns(group: str) -> dict[str, re.Pattern[str]]:
    """Return a pattern for each meaning of a group. `*` at the end of an entry means any letters."""
    # linear: entries are literal but for `\S*` at the end of a word, and a name has at most _MAX_NAME characters
    return {name: re.compile(_pattern(entries)) for name, entries in vocabulary()[group].items()}


def _pattern(entries: list[str]) -> str:
    words = (re.escape(entry).replace(r"\*", r"\S*") for entry in entries)
    return rf"(?<!\S)(?:{'|'.join(words)})(?!\S)"
