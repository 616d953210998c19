"""What words of a language say: numbers, units, dates, and nothing at all. One table of data for each language."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from notices.packs import base_language

_DIRECTORY = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Vocabulary:
    language: str
    numbers: Mapping[str, int]
    """Words that are added up, as `twenty` and `five` are."""
    ones: Mapping[str, int]
    """Words that are 1 beside such a word, and articles elsewhere."""
    powers: Mapping[str, int]
    """Words that multiply what is before them."""
    shares: Mapping[str, Decimal]
    """Words that are a number alone and tell a share or a multiple: `half`, `double`."""
    parts: Mapping[str, int]
    """Words that divide the number before them: two `thirds`."""
    units: Mapping[str, str]
    """The unit that a word or sign means."""
    counting: Mapping[str, int]
    """Every word that can be a part of a number: those three."""
    joining: frozenset[str]
    """Words that may stand inside a number."""
    times: tuple[str, ...]
    """Ends of words that begin with a number: `tenfold`."""
    after_digits: frozenset[str]
    """What makes an ordinal of figures."""
    empty: frozenset[str]
    """Words that give no reason, alone or together: `too low` does not say what is."""
    alone: frozenset[str]
    """Words of which a sentence gives no reason either if it has no others: `internal reasons`."""
    abbreviations: frozenset[str]
    """Capitals that name a thing and are no code."""
    small: frozenset[str]
    """Common small words, by which the language is told."""
    in_one_word: bool
    """Numbers are written as one word: `fünfundzwanzig`."""
    by_twenties: bool
    """Some are counted by twenties: `quatre-vingt-dix`."""


@cache
def vocabulary(language: str) -> Vocabulary:
    """The words of a language, whatever its region. Raises KeyError for one without a table."""
    file = _DIRECTORY / f"{base_language(language)}.toml"
    if not file.is_file():
        raise KeyError(language)
    tables: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    numbers, ones, powers = tables["numbers"], tables["ones"], tables["powers"]
    spelling = tables["spelling"]
    return Vocabulary(
        language=file.stem,
        numbers=numbers,
        ones=ones,
        powers=powers,
        shares={word: Decimal(number) for word, number in tables["shares"].items()},
        parts=tables["parts"],
        units={word: unit for unit, words in tables["units"].items() for word in words},
        counting={**ones, **numbers, **powers},
        joining=frozenset(spelling["joining"]),
        times=tuple(spelling["times"]),
        after_digits=frozenset(spelling["after_digits"]),
        empty=frozenset(tables["reasons"]["empty"].casefold().split()),
        alone=frozenset(tables["reasons"]["alone"].casefold().split()),
        abbreviations=frozenset(tables["reasons"]["abbreviations"].split()),
        small=frozenset(tables["language"]["small"].casefold().split()),
        in_one_word=spelling["in_one_word"],
        by_twenties=spelling["by_twenties"],
    )


@cache
def languages() -> tuple[str, ...]:
    """The languages that have a table."""
    return tuple(sorted(path.stem for path in _DIRECTORY.glob("??.toml")))
