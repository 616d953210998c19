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
    """Return the first meaning of a group that the words of a name have, and the word that says so."""
    for name, entries in vocabulary()[group].items():
        for entry in entries:
            if _contains(name_words, entry.split(" ")):
                return name, entry
    return None


def has(group: str, name: str, name_words: list[str]) -> bool:
    """Whether the words of a name have one meaning of a group."""
    return any(_contains(name_words, entry.split(" ")) for entry in vocabulary()[group][name])


def outcome_of(code: str) -> str | None:
    """Return the outcome that a code spells, or None."""
    if code in get_args(OutcomeKind):
        return code
    spelling = "".join(letter for letter in code.casefold() if letter.isalnum())
    return next((kind for kind, codes in vocabulary()["outcomes"].items() if spelling in codes), None)


def _contains(name_words: list[str], entry: list[str]) -> bool:
    """Whether the words of an entry follow one another in a name. `*` at a word's end means any letters."""
    ends = len(name_words) - len(entry) + 1
    return any(all(map(_fits, name_words[at : at + len(entry)], entry)) for at in range(ends))


def _fits(word: str, entry: str) -> bool:
    return word.startswith(entry[:-1]) if entry.endswith("*") else word == entry
