"""Numbers, dates and names in a sentence that are not in the field that it cites.

The public page proves the field, so a reader takes what the sentence says for proved.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

from babel.numbers import get_decimal_symbol

from notices.checklist import Case
from notices.localization import MAX_TEXT, Catalog, catalog, humanise
from notices.localization.names import LONGEST, FieldName, is_machine_name, parse_name
from notices.localization.sentences import one_line
from notices.localization.values import is_unclear_amount, of_minor_units, parse_amount
from notices.record_paths import Fact, Facts, NoSuchField
from notices.warnings.findings import Finding, Statement, statements
from notices.warnings.names import RecordNames, names_in
from notices.wording import languages, vocabulary
from notices.wording.amounts import AmountMention, Code, blank, find_amounts, with_currency_codes
from notices.wording.contents import IDEOGRAPHIC, WORD, Contents, times
from notices.wording.days import day_of, find_days
from notices.wording.plain import plain

_MOST_NAMED, _LONGEST = 5, 60
_MOST_LABELS = 20
_LARGEST_PERCENT = 100
_CONTROLS = re.compile(r"[\x01-\x1f\x7f-\x9f]")
"""Letters print a space for each."""
_DECIMAL = re.compile(r"[0-9][.,][0-9]")
_UNITS = {
    "concentr-percent": "percent",
    "duration-year": "year",
    "duration-month": "month",
    "duration-week": "week",
    "duration-day": "day",
    "duration-hour": "hour",
    "duration-minute": "minute",
    "duration-second": "second",
    "length-kilometer": "kilometre",
    "length-mile": "mile",
    "length-centimeter": "centimetre",
    "mass-kilogram": "kilogram",
}
"""Units of fields, as their names say them."""


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    language = str(content["language"])
    check = _Check(case.facts, catalog(language, case.pack.locales.get(language, "")))
    for statement in statements(content):
        if statement.drafted_as in case.drafted:  # numbers of phrases and packs
            continue
        try:
            fact = case.facts.find(statement.source)
        except NoSuchField:  # which is a problem
            continue
        if unproved := list(dict.fromkeys(check.unproved(statement.text, fact))):
            yield statement.finding("not_in_field", _sentence(statement, unproved))


def _sentence(statement: Statement, unproved: list[str]) -> str:
    told = [f"“{each[:_LONGEST]}”" for each in unproved[:_MOST_NAMED]]
    more = f" and {len(unproved) - _MOST_NAMED} more" if len(unproved) > _MOST_NAMED else ""
    are = "is" if len(unproved) == 1 else "are"
    source = statement.source if len(statement.source) <= 2 * _LONGEST else f"{statement.source[: 2 * _LONGEST]}…"
    return f"{', '.join(told)}{more} {are} not in the field that {statement.name} cites: {source}."


class _Check:
    """Compares sentences in one language with the fields of one record. Each field is read once, if it is at all."""

    def __init__(self, facts: Facts, words: Catalog) -> None:
        self._facts, self._words = facts, words
        self._language = words.locale.language
        self._decimal = str(get_decimal_symbol(words.locale))
        self._all = [vocabulary(each) for each in languages()]
        self._spoken = [vocabulary(self._language)]
        self._names = RecordNames(facts)
        self._factors = _factor_names(facts)
        self._fields: dict[str, Contents] = {}
        self._texts: dict[str, str] = {}
        self._called: dict[int, list[str]] = {}

    def unproved(self, sentence: str, fact: Fact) -> Iterator[str]:
        """What a sentence says and the field does not."""
        labels = self._labels(fact)
        text, figures = self._figures(self._remainder(sentence, fact, labels), fact)
        yield from figures
        for name in names_in(text, self._words, self._names):
            if not self._calls_itself(name, fact, labels):
                yield name
        for amount in self._amounts(text):
            if isinstance(amount, AmountMention):
                if not self._read(fact).has_amount(amount):
                    yield amount.text
            elif not self._read(fact).has_code(amount.text):
                yield amount.text

    def _figures(self, text: str, fact: Fact) -> tuple[str, list[str]]:
        """A text without its days, times and ideographic numbers, and those of them that the field does not have."""
        contents = self._read(fact)
        days, moments = list(find_days(text, (self._language,))), list(times(text))
        unproved = [day.text for day in days if not contents.has_day(day)]
        unproved += [time[0] for time in moments if not contents.has_time(time[1], time[2])]
        text = blank(text, [(day.start, day.end) for day in days])
        text = blank(text, [time.span() for time in times(text)])
        return text, unproved + [number for number in IDEOGRAPHIC.findall(text) if not contents.has_code(number)]

    def _amounts(self, text: str) -> Iterator[AmountMention | Code]:
        return find_amounts(text, self._spoken, self._decimal, spaces=self._language == "fr")

    def _is_only_a_name(self, label: str, fact: Fact) -> bool:
        """Whether a name that the record gives to a field claims nothing that the field would have to prove. Codes and
        abbreviations in it are a part of the name, as the capitals of a title are."""
        text, figures = self._figures(with_currency_codes(plain(label)), fact)
        amounts = (each for each in self._amounts(text) if isinstance(each, AmountMention))
        if figures or not all(map(self._read(fact).has_amount, amounts)):
            return False
        words = WORD.findall(text)
        if 2 * sum(word[0].isupper() for word in words) > len(words):
            return True
        names = (name for name in names_in(text, self._words, self._names) if not name.isupper())
        return all(self._calls_itself(name, fact, []) for name in names)

    def _remainder(self, sentence: str, fact: Fact, labels: list[str]) -> str:
        """A sentence without what it takes word for word: the field's text, and what the field is called."""
        text = plain(sentence)
        shown = self._shown(fact)
        for own in ([shown] if len(shown) > 1 else []) + labels:
            # A name of digits alone is no part of a longer number.
            text = re.sub(rf"(?<!\d){own}(?!\d)", " ", text) if own.isdecimal() else text.replace(own, " ")
        # Drafts say its words; "1 a" is not in "1 account".
        if isinstance(fact.value, str) and _is_of_words(fact.value):
            text = re.sub(rf"(?i)(?<!\w){re.escape(plain(humanise(fact.value)))}(?!\w)", " ", text)
        return with_currency_codes(text)

    def _shown(self, fact: Fact) -> str:
        """A field's text as letters print it, "" of a number. A long one is looked through once for all sentences."""
        if fact.path not in self._texts:
            is_text = isinstance(fact.value, str) and _number(fact.value, self._unit(fact)) is None
            shown = one_line(fact.value) if is_text else ""
            self._texts[fact.path] = plain(shown if len(shown) <= MAX_TEXT else f"{shown[:MAX_TEXT]}…")
        return self._texts[fact.path]

    def _labels(self, fact: Fact) -> list[str]:
        """What the record itself calls a field, as it is read aloud: the names of factors about it."""
        # Its value may be a list: then the factor that has the name is further out.
        around = [each.parent.value for each in fact.lineage()[-3:] if each.parent]
        called = [*self._factors.get(fact.path, []), *(name for each in around for name in self._names_within(each))]
        called = [name for name in called if self._is_only_a_name(humanise(name), fact)]
        names = [humanise(name) for name in called]
        # With abbreviations written out: the 10 of ICD-10 is no number of the field's.
        own = (self._words.label(name) for name in (*called, *(each.name[: LONGEST + 1] for each in fact.lineage())))
        read = [plain(name) for name in (*names, *(label for label in own if label.endswith(")")))]
        names = [name for name in read if len(name) > 1 or name.isdigit()]
        return [*names, *(name[0].upper() + name[1:] for name in names)]

    def _names_within(self, part: Any) -> list[str]:
        """What an object calls itself. An object with many fields is looked through once for all of them."""
        if id(part) not in self._called:
            self._called[id(part)] = _names_in(part)[:_MOST_LABELS]
        return self._called[id(part)]

    def _calls_itself(self, name: str, fact: Fact, labels: list[str]) -> bool:
        """Whether a name is in the field, or in what the field is called, perhaps as its initials: LTV."""
        words = {word.casefold() for word in WORD.findall(name)}
        words -= {word.casefold() for label in labels for word in WORD.findall(label)}
        if words <= self._read(fact).words:
            return True
        called = [humanise(each.name) for each in fact.lineage()] + labels
        return any(name.casefold() == "".join(word[0] for word in WORD.findall(each)).casefold() for each in called)

    def _read(self, fact: Fact) -> Contents:
        path = fact.path
        if path not in self._fields:
            contents = self._fields[path] = Contents()
            unit = self._unit(fact)
            if (number := _number(fact.value, unit)) is not None:
                contents.add_number(number, unit.currency or _UNITS.get(unit.unit, "") or _points(number, unit))
                if unit.is_minor:
                    contents.add_number(Decimal(of_minor_units(number, unit.currency)), unit.currency)
            elif isinstance(fact.value, str):
                text = _CONTROLS.sub(" ", fact.value)
                is_amount = is_unclear_amount(text.strip())
                contents.add_text(f"{text} {unit.currency}" if is_amount else text, self._all)
                if day := day_of(fact.value):
                    contents.add_day(day)
            for each in fact.lineage():
                contents.merge(_read_name(each.name[:LONGEST]))
        return self._fields[path]

    def _unit(self, fact: Fact) -> FieldName:
        """What a number is measured in, by the field's name or by what stands beside it."""
        return parse_name(fact.field.name)


@lru_cache(maxsize=4096)
def _read_name(name: str) -> Contents:
    """What a field's name says. Records have the same names again and again."""
    contents = Contents()
    contents.add_text(humanise(name), [vocabulary(each) for each in languages()])
    contents.spelled.update(re.findall(r"\d+", name))  # in `apr_1` is no day of April
    return contents


def _number(value: Any, unit: FieldName) -> Decimal | None:
    """The number that a field is. A text is one where it is an amount of a known currency."""
    if isinstance(value, str):
        return parse_amount(value.strip()) if unit.currency else None
    return None if isinstance(value, bool) or not isinstance(value, int | Decimal) else Decimal(value)


def _is_of_words(text: str) -> bool:
    """Whether a text is a name that programs write, such as `60DaysLate`, and no figure."""
    is_name = len(text) <= LONGEST and is_machine_name(text) and not _DECIMAL.search(text)
    return is_name and any(character.isalpha() for character in text) and " " in humanise(text)


def _points(number: Decimal, name: FieldName) -> str:
    """The unit of a score, which is neither money nor a share."""
    is_score = "score" in name.words.casefold().split(" ") and not name.suffix
    return "point" if is_score and abs(number) > _LARGEST_PERCENT else ""


def _factor_names(facts: Facts) -> dict[str, list[str]]:
    """What factors of the outcome call the fields that they are about, by path."""
    names: dict[str, list[str]] = {}
    factors = facts.get("outcome.principal_factors")
    for factor in factors if isinstance(factors, list) else [factors]:
        for path in _texts_in(factor, ("path",)):
            try:
                called = names.setdefault(facts.at(path).path, [])
            except NoSuchField:
                continue
            called += _names_in(factor)[: max(0, _MOST_LABELS - len(called))]
    return names


def _names_in(part: Any) -> list[str]:
    """What the object of a factor calls it."""
    return [name[: LONGEST + 1] for name in _texts_in(part, ("factor", "name"))]


def _texts_in(part: Any, names: tuple[str, ...]) -> list[str]:
    texts = (part.get(name) for name in names) if isinstance(part, dict) else ()
    return [text for text in texts if isinstance(text, str)]
