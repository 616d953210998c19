"""Names of fields compared word by word, however they are spelled."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from config.unicode_forms import normalize
from notices.bounded_names import bounded
from notices.sensitive.plain import plain

_WORD = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])")
_POSSESSIVE = re.compile("(?<=[^\\W\\d_])['\u2019\u02bc]s(?![^\\W_])")
_SHORT = {
    "account": ("acct",),
    "license": ("licence", "lic"),
    "number": ("no", "nr", "num", "nbr", "nmbr"),
    "security": ("sec",),
    "social": ("soc",),
}
_FULL = {short: full for full, shorts in _SHORT.items() for short in shorts}
_STEM = 3
"""Letters by which a stem is looked up: none is shorter."""
_CACHED = 200
"""Characters of a name that is kept for the next record."""


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name: small, without accents, each in the singular as far as an `s` makes the plural, and in full
    where it is short for another."""
    return _words_of(name) if len(name) <= _CACHED else _words_of.__wrapped__(bounded(name))


@lru_cache(maxsize=8192)
def _words_of(name: str) -> tuple[str, ...]:
    if not name.isascii():
        name = "".join(c for c in normalize("NFKD", plain(name)) if not unicodedata.combining(c))
    parts = (part for word in _WORD.findall(_POSSESSIVE.sub("", name)) for part in _CAMEL.split(word))
    words = (_singular(part.casefold()) for part in parts)
    return tuple(_FULL.get(word, word) for word in words)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 2 and word.endswith("s") and not word.endswith("ss") else word


class Match(NamedTuple):
    group: str
    start: int
    end: int
    is_whole: bool
    """It is only meant where it is all of the name."""


class Names:
    """Lists of names, each of a group, to be found in other names."""

    def __init__(self, names: Iterable[tuple[str, str]], whole: Iterable[tuple[str, str]] = ()) -> None:
        """Each as group and name; `*` at the end of one stands for any letters."""
        self._by_first: dict[str, list[tuple[tuple[str, ...], str, bool]]] = {}
        self._stems: dict[str, list[tuple[str, str]]] = {}
        for listed, is_whole in ((names, False), (whole, True)):
            for group, name in listed:
                words = words_of(name)
                if name.endswith("*"):
                    self._stems.setdefault(words[0][:_STEM], []).append((words[0], group))
                    continue
                for spelled in {words, *_joined(words)}:
                    self._by_first.setdefault(spelled[0], []).append((spelled, group, is_whole))

    def find(self, words: Sequence[str]) -> Iterator[Match]:
        """Where these words have one of the names."""
        for start, word in enumerate(words):
            for name, group, is_whole in self._by_first.get(word, ()):
                if tuple(words[start : start + len(name)]) == name:
                    yield Match(group, start, start + len(name), is_whole)
            for stem, group in self._stems.get(word[:_STEM], ()):
                if word.startswith(stem):
                    yield Match(group, start, start + 1, False)


def _joined(words: Sequence[str]) -> Iterator[tuple[str]]:
    """A name as one word, also with short ones in it: `accountnumber`, `acctno`."""
    return (("".join(each),) for each in product(*((word, *_SHORT.get(word, ())) for word in words)))
