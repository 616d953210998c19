"""Whether a sentence gives a reason in words, and which of its words do."""

import re
from functools import cache

from config.visible_text import is_visible
from notices.localization import catalog
from notices.localization.sentences import one_line
from notices.wording import languages, vocabulary

_LONGEST_CODE = 4
_FIRST_IDEOGRAPH = "\u2e80"
# Figures between ideographs are no part of a code.
_TOKEN = re.compile(rf"(?:(?![{_FIRST_IDEOGRAPH}-\U0003ffff])[^\W_])+|(?:(?=[{_FIRST_IDEOGRAPH}-\U0003ffff])[^\W_])+")
_PLAIN_SPACES = {0xA0: " ", 0x202F: " "}
_CODE = re.compile(r"[A-Za-z0-9_.#/-]+")
# What a program writes where it has nothing to say, without the blanks around it: `\s*` before and after would try each
# division of a long run of blanks.
_NOTHING = re.compile(r"(?i)(?:null|nil|nan|n\s?[./]?\s?a\.?|undefined|tbd|todo|[-\u2013\u2014?.*#x]*)")


def telling_words(text: str) -> list[str]:
    """The words of a sentence that can be part of a reason, small: neither codes nor words that say nothing alone.

    The words of every language are known: a record's reason need not be in the letter's. An abbreviation that people
    know is one of them beside a word or a number: `LTV 96 > 95`.
    """
    tokens = _TOKEN.findall(" ".join(chunk for chunk in _said(text).split() if not _is_code(chunk)))
    if _alone().issuperset(map(str.casefold, tokens)):
        return []
    known = _abbreviations() if len(tokens) > 1 else frozenset()
    return [
        token.casefold() for token in tokens if token in known or (_is_word(token) and token.casefold() not in _empty())
    ]


def words(text: str) -> list[str]:
    """All words of a sentence, small."""
    return [word.casefold() for word in _TOKEN.findall(text)]


def has_words(text: str) -> bool:
    """Whether a sentence has a word in it, and not only a code, a figure or a dash."""
    return not says_nothing(text) and any(map(_can_be_read, _TOKEN.findall(text)))


def says_nothing(value: object) -> bool:
    """Whether a value of a record only fills a place: `NULL`, `n/a`, a dash."""
    return isinstance(value, str) and _NOTHING.fullmatch(value.strip()) is not None


def _said(text: str) -> str:
    """What of a sentence is not only what letters put around a code or a factor. A code alone says nothing."""
    said = one_line(text).translate(_PLAIN_SPACES).rstrip(".")
    small = said.casefold()
    for code, before, after in _forms():
        if small.startswith(before) and small.endswith(after):
            said = said[len(before) : len(said) - len(after)]
            small = said.casefold()
            if code and len(said.split()) == 1:
                return ""
    return said


def _is_code(chunk: str) -> bool:
    """Whether what stands between two spaces is letters and figures in one, as STRUCT-5K and velocity_rule_7 are."""
    found = _CODE.fullmatch(chunk.strip("()[],;:.\"'"))
    return bool(found) and any(map(str.isdigit, chunk)) and any(map(str.isalpha, chunk))


def _can_be_read(token: str) -> bool:
    """Whether it is letters, and several, unless one is a word."""
    return token.isalpha() and is_visible(token) and (len(token) > 1 or token >= _FIRST_IDEOGRAPH)


def _is_word(token: str) -> bool:
    return _can_be_read(token) and not (token.isupper() and len(token) <= _LONGEST_CODE)


@cache
def _forms() -> tuple[tuple[bool, str, str], ...]:
    """How letters word a code (true) or a factor in each language: what stands before it and after it, small."""
    forms = []
    for language in languages():
        for name in ("reason_code", "factor_against", "factor_for"):
            before, _, rest = catalog(language).messages[name].casefold().translate(_PLAIN_SPACES).partition("{")
            forms.append((name == "reason_code", before, rest.partition("}")[2]))
    return tuple(forms)


@cache
def _abbreviations() -> frozenset[str]:
    return frozenset().union(*(vocabulary(language).abbreviations for language in languages()))


@cache
def _alone() -> frozenset[str]:
    return frozenset().union(*(vocabulary(language).alone for language in languages()))


@cache
def _empty() -> frozenset[str]:
    """Words that give no reason, among them those that letters put around a code."""
    known = (word for language in languages() for word in vocabulary(language).empty)
    around = (word for each in languages() for text in catalog(each).messages.values() for word in words(text))
    return frozenset([*known, *around])
