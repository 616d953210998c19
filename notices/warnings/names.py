"""Names in a sentence: of people, firms and places, as far as their spelling gives them away."""

import re
from collections.abc import Iterator
from functools import cache, cached_property

from babel import Locale

from notices import shapes
from notices.localization import Catalog
from notices.record_paths import Fact, Facts
from notices.wording import vocabulary
from notices.wording.contents import WORD

_CAPITALS_MEAN_NAMES = {"en", "fr"}
"""German writes every noun with one."""
_START = re.compile(r"(?:^|[.!?…:;•\u2013\u2014][\"'“”«»„\u2018\u2019()\s]*|[\"“«„\u2018(]\s*)$")
_NAMING = {"agency", "bank", "bureau", "company", "employer", "insurer", "lender", "name", "provider", "vendor"}
_LONGEST_NAME, _MOST_WORDS, _LONGEST_ACRONYM = 80, 6, 10
_NO_NAMES = {"I", "OK", "Hg"}


_LEGAL_FORMS = {"ab", "ag", "bv", "corp", "eg", "gmbh", "inc", "kg", "kgaa", "llc", "ltd", "mbh", "nv", "plc", "sa"}
_LEGAL_FORMS |= {"sarl", "sas", "se"}
_BUREAUS = ("Boniversum", "Creditreform", "FICO", "Infoscore", "Schufa", "VantageScore")
"""What people know by name, beside the agencies."""
_TITLES = {"dr", "frau", "herr", "herrn", "prof"}
"""What gives a name away where every noun has a capital."""


class RecordNames:
    """The names that a record gives to people, firms and things, in fields that are there for names."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def at(self, words: list[str], index: int) -> int:
        """How many of the words from `index` on, all small, are a name of the record: the most of them, or none."""
        most = min(_MOST_WORDS, len(words) - index)
        return next((n for n in range(most, 0, -1) if tuple(words[index : index + n]) in self._names), 0)

    @cached_property
    def _names(self) -> set[tuple[str, ...]]:
        """Each as its words, small."""
        return {*_bureaus(), *map(_name, self._facts.at("").scalars())}


@cache
def _bureaus() -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(WORD.findall(name.casefold())) for name in (*shapes.agency_names(), *_BUREAUS))


def names_in(text: str, catalog: Catalog, known: RecordNames) -> Iterator[str]:
    """The names that a sentence seems to say: those of the record, words with a capital where only names have one, and
    acronyms."""
    language = catalog.locale.language
    words = list(WORD.finditer(text))
    spelled = [word[0] for word in words]
    small = [word.casefold() for word in spelled]
    shouted = 2 * sum(word.isupper() for word in spelled) > len(spelled)
    told = _told_by(language, tuple(_templates(catalog))) | vocabulary(language).small
    skip = 0
    for index, word in enumerate(spelled):
        if index < skip or not word[0].isupper():
            continue
        length = known.at(small, index)
        if length or (small[index] not in told and (length := _firm(text, words, index))):
            skip = index + length
            yield text[words[index].start() : words[skip - 1].end()]
        elif shouted or small[index] in told or word in _NO_NAMES or word in Locale("en").currencies:
            continue
        elif word.isalpha() and word.isupper() and 1 < len(word) <= _LONGEST_ACRONYM:
            yield word
        elif language in _CAPITALS_MEAN_NAMES and len(word) > 1 and word.isalpha():
            if not _begins(text, words[index]):
                yield word
            elif _is_followed_by_name(text, words, index) and small[index + 1] not in told:
                skip = index + 2
                yield text[words[index].start() : words[index + 1].end()]
        elif index and small[index - 1] in _TITLES and len(word) > 1:
            yield word


def _begins(text: str, word: re.Match[str]) -> bool:
    """Whether a word begins a sentence or a quotation."""
    start = word.start()
    return start == 0 or _START.search(text, max(0, start - 8), start) is not None


def _is_followed_by_name(text: str, words: list[re.Match[str]], index: int) -> bool:
    """Whether the next word has a capital too: `Example Bank declined`."""
    if index + 1 == len(words) or text[words[index].end() : words[index + 1].start()] not in (" ", "-", " & "):
        return False
    after = words[index + 1][0]
    return after[0].isupper() and not after.isupper() and after.isalpha()


def _firm(text: str, words: list[re.Match[str]], index: int) -> int:
    """How many words from `index` on are the name of a firm that ends with its legal form, as in `Example AG`."""
    for last in range(index + 1, min(index + _MOST_WORDS, len(words))):
        if text[words[last - 1].end() : words[last].start()] not in (" ", "-", " & ", ", "):
            return 0
        if words[last][0].casefold() in _LEGAL_FORMS and any(map(str.isupper, words[last][0])):
            return last + 1 - index
        if not words[last][0][0].isupper():
            return 0
    return 0


def _name(fact: Fact) -> tuple[str, ...]:
    """The words of a field that is a name; none for any other."""
    keys = set(re.split(r"[_\W]+", fact.field.name[:_LONGEST_NAME].casefold()))
    if not isinstance(fact.value, str) or len(fact.value) > _LONGEST_NAME or _NAMING.isdisjoint(keys):
        return ()
    if [part.name for part in fact.lineage()[:2]] == ["outcome", "principal_factors"]:
        return ()  # the name of a factor, and of no one
    words = WORD.findall(fact.value)
    is_name = 0 < len(words) <= _MOST_WORDS and words[0][0].isupper() and len(words[0]) > 1
    return tuple(word.casefold() for word in words) if is_name else ()


def _templates(catalog: Catalog) -> Iterator[str]:
    yield from catalog.messages.values()
    yield from catalog.fields.values()
    yield from catalog.fields_if_automated.values()
    yield from catalog.fields_if_influenced.values()
    yield from catalog.fields_if_not_decided.values()
    yield from catalog.since.values()
    for choices in catalog.choices.values():
        yield from choices.values()


@cache
def _told_by(language: str, templates: tuple[str, ...]) -> frozenset[str]:
    """The words that letters in a language say about any record, and its names of days."""
    days = (name for width in ("wide", "abbreviated") for name in Locale(language).days["format"][width].values())
    return frozenset(word.casefold() for text in (*templates, *days) for word in WORD.findall(text))
