"""Which language a text is in, by its small words and its script: enough to see that it is another one."""

import re
import tomllib
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path

from notices.localization.sentences import END_MARKS
from notices.packs import base_language
from notices.wording import languages, vocabulary

_WORD = re.compile(r"(?<!\w)[^\W\d_]+(?!\w)")
"""Beside a digit, letters are part of an id: the de of 4de-a7 is no French."""
_FEWEST = 2
_FEWEST_OF_A_SENTENCE = 3
"""Words, in a script that parts them."""
_LONGEST_IDEOGRAPHIC_NAME = 5
_MOST_WORDS_OF_A_NAME = 4
_FIRST_IDEOGRAPH = "\u2e80"
_LONGEST = 2000
"""Characters by which a text is judged."""


def is_other_language(text: str, language: str, *, is_value: bool = False) -> bool:
    """Whether a text is plainly in another language.

    In doubt it is not: names and a few words belong to no language.

    Args:
        is_value: it is what a field holds. In another script that is a name, as long as it is no sentence.
    """
    text = text[:_LONGEST].strip()
    found = [word.casefold() for word in _WORD.findall(text)]
    if _is_other_script(text):
        if is_value and not text.endswith(END_MARKS) and len(found) <= _MOST_WORDS_OF_A_NAME:
            return False
        return len(found) >= _FEWEST_OF_A_SENTENCE or any(map(_is_ideographic_sentence, found))
    small = _small_words()
    own = small[base_language(language)]
    return any(_is_rather(found, small[other], own) for other in small)


def _is_ideographic_sentence(word: str) -> bool:
    return word[0] >= _FIRST_IDEOGRAPH and len(word) > _LONGEST_IDEOGRAPHIC_NAME


def _is_rather(found: list[str], other: frozenset[str], own: frozenset[str]) -> bool:
    """Whether words are of another language rather than of one's own, by those that only one of them has."""
    of_other = sum(word in other and word not in own for word in found)
    return of_other >= _FEWEST and of_other > 2 * sum(word in own and word not in other for word in found)


def _is_other_script(text: str) -> bool:
    """Whether most letters are not Latin, which letters are written in."""
    scripts = Counter(unicodedata.name(letter, "").startswith("LATIN") for letter in text if letter.isalpha())
    return scripts[False] > scripts[True]


@cache
def _small_words() -> dict[str, frozenset[str]]:
    others: dict[str, str] = tomllib.loads((Path(__file__).parent / "other_languages.toml").read_text("utf-8"))
    known = {name: frozenset(words.split()) for name, words in others.items()}
    return known | {name: vocabulary(name).small for name in languages()}
