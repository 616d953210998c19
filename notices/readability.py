"""How hard a notice is to read: the length of its sentences and, for English, its Flesch reading ease."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import pyphen

from notices.localization.sentences import split_sentences
from notices.packs import STATEMENT_FIELDS, Pack, is_text

_TEXTS = ("how_to_request_inputs", "how_to_request_review", "deadline_note")
# A word begins with a letter or digit; apostrophes, hyphens, points and at signs inside belong to it.
# linear: a match ends at the last letter of its run, and the next word begins behind the run
_WORD = re.compile(r"[^\W_](?:[\w'\u2019.,@/\-]*\w)?")

_LONGEST_WORD = (
    64  # letters: longer ones are none of the dictionary's, and hyphenating takes the square of their number
)
_VOWEL = re.compile(r"[aeiou]|(?<=.)y")


@dataclass(frozen=True, slots=True)
class Readability:
    """Counts over the prose of a notice: its statements and texts, without title and framework."""

    words: int
    sentences: int
    words_per_sentence: float
    """The mean to one decimal; 0.0 if there are no words."""
    longest: int
    """The number of words in the longest sentence."""
    flesch: float | None
    """Flesch reading ease, about 0 (hard) to 100 (easy). English only."""


@dataclass(frozen=True, slots=True)
class Readabilities:
    """Readability of a letter, and of the part of it that is the writer's own."""

    whole: Readability
    without_prescribed: Readability


def readability_of(content: Mapping[str, Any], pack: Pack, language: str) -> Readabilities:
    """Measure a notice's content with and without the texts that its pack locks."""
    own = without_prescribed(content, pack, language)
    return Readabilities(measure(content, language), measure(own, language))


def without_prescribed(content: Mapping[str, Any], pack: Pack, language: str) -> dict[str, Any]:
    """A notice's content without the texts that its pack locks, which nobody may write more simply."""
    locked = pack.text(language).locked.values()

    def is_prescribed(right: str) -> bool:
        return right in locked or any(is_text(right, text) for text in locked)

    return {**content, "rights": [right for right in content.get("rights", []) if not is_prescribed(right)]}


def measure(content: Mapping[str, Any], language: str) -> Readability:
    """Count the words and sentences of a notice.

    Flesch reading ease is 206.835 - 1.015 x words per sentence - 84.6 x syllables per word (R. Flesch, "A new
    readability yardstick", Journal of Applied Psychology 32(3), 1948, pages 221-233). Syllables are where pyphen's
    American English dictionary would hyphenate, which finds somewhat fewer than there are; a number counts as one.

    Args:
        content: the content fields of a notice; those that are missing count as empty.
        language: as the notice has it, such as `en` or `de-AT`.
    """
    lengths = [len(words) for words in map(_words, _sentences(content)) if words]
    total = sum(lengths)
    flesch = None
    if total and language.partition("-")[0] == "en":
        syllables = sum(_syllables(word.lower()) for text in _sentences(content) for word in _words(text))
        flesch = 206.835 - 1.015 * total / len(lengths) - 84.6 * syllables / total
    mean = round(total / len(lengths), 1) if lengths else 0.0
    return Readability(total, len(lengths), mean, max(lengths, default=0), flesch)


def longest_sentence(text: str) -> int:
    """The number of words in the longest sentence of a text."""
    return max((len(_words(sentence)) for sentence in split_sentences(text)), default=0)


def _sentences(content: Mapping[str, Any]) -> list[str]:
    statements = [item["statement"] for name in STATEMENT_FIELDS for item in content.get(name, [])]
    texts = [*content.get("rights", []), *(content.get(name, "") for name in _TEXTS)]
    return [one for text in (*statements, *texts) for one in split_sentences(text)]


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _syllables(word: str) -> int:
    parts = (word[start : start + _LONGEST_WORD] for start in range(0, len(word), _LONGEST_WORD))
    return sum(map(_syllables_of_part, parts))


@lru_cache(maxsize=4096)
def _syllables_of_part(part: str) -> int:
    return 1 + sum(bool(_VOWEL.search(part, 0, position)) for position in _dictionary().positions(part))


@cache
def _dictionary() -> pyphen.Pyphen:
    return pyphen.Pyphen(lang="en_US", left=1, right=1)
