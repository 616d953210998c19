"""Fields of records that letters withhold by default: identifiers, account numbers, secrets, data about other people.

This package knows records and no organization: what an organization adds or takes off is given to it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any

from notices.record_paths import Fact
from notices.sensitive.labels import is_answer, is_other_person, is_own, labels_of, names_somebody, roles_of
from notices.sensitive.names import Match, Names, words_of
from notices.sensitive.spelling import spelling, tables
from notices.sensitive.values import kinds

__all__ = [
    "MAX_FIELD_NAME",
    "MAX_FIELD_NAMES",
    "SensitiveFields",
    "default_list",
    "same_names",
    "sensitive_fields",
]

MAX_FIELD_NAME, MAX_FIELD_NAMES = 100, 500
"""Characters and number of the names that an organization adds or takes off."""
_TAIL = 6
"""Words of the name above that may begin a name: no listed one is longer."""
_MOST_COUNTED = 100
_MOST_PARTS, _MOST_IN_PART, _FEWEST_SIGNS = 19, 10**19, 9
"""Of a number that is stored in parts: no card has more digits, and no national number fewer."""
_CARD_PARTS = ((4, 4, 4, 4), (4, 6, 5), (4, 4, 4, 4, 3), (1,) * 15, (1,) * 16)
"""Digits of a card's number in each of its parts."""
_DIGITS_OF_TEXT, _DIGITS_OF_NUMBER = 6, 9
"""Fewer make no national number. A number has more, since it may be an amount."""
_ADDED = "added"


@cache
def default_list() -> Mapping[str, Sequence[str]]:
    """The names of the default list, by what they are in words."""
    return {
        table["title"]: [*table.get("names", ()), *table.get("whole", ())] for table in tables()["classes"].values()
    }


def same_names(some: Iterable[str], others: Iterable[str]) -> list[str]:
    """Those names that are among the others, however they are spelled."""
    known = frozenset(map(words_of, others))
    return [name for name in some if words_of(name) in known]


class SensitiveFields:
    """The default list with what an organization added to it and took off it."""

    def __init__(self, added: Iterable[str] = (), printable: Iterable[str] = ()) -> None:
        """
        Args:
            added: names of fields that are withheld, too.
            printable: names that are not: of the default list, or of single fields whatever they hold.
        """
        self.lists = (tuple(added), tuple(printable))
        self._printable = frozenset(map(words_of, printable))
        classes = tables()["classes"]
        listed = {
            key: [(group, name) for group, table in classes.items() for name in table.get(key, ())]
            for key in ("names", "whole", "never")
        }
        kept = {key: [pair for pair in listed[key] if words_of(pair[1]) not in self._printable] for key in listed}
        own = [(_ADDED, name) for name in added if words_of(name)]
        self._names = Names([*kept["names"], *own], kept["whole"])
        self._never = Names(listed["never"])

    def kind(self, fact: Fact) -> str:
        """What is sensitive about a field or a part of a record, in words; "" if nothing is.

        What stands above it has to be asked about by itself.
        """
        field = fact.field
        if fact.value is None or words_of(field.name) in self._printable:
            return ""
        return _title(self._by_name(fact) or self._by_what_it_is_called(fact) or _by_value(fact))

    def named(self, name: str) -> str:
        """The same of what is called so, as a factor is."""
        words = words_of(name)
        return _title(self._group(words, 0, "", is_scalar=True) or _of_value(name))

    def _by_name(self, fact: Fact) -> str:
        if is_other_person(fact):
            return "others"
        if fact.in_list and fact.name == fact.step and fact.parent:  # one of several people may be the person themself
            return "" if is_own(fact.value) else self._person(fact.parent)
        if isinstance(fact.value, list) and any(map(is_own, fact.value)):
            return ""
        if fact.in_list and _is_outcome(fact):
            return ""  # reasons and factors have names of their own
        return self._by_own_name(fact)

    def _person(self, fact: Fact) -> str:
        found = self._by_own_name(fact)
        return found if _is_person(found) else ""

    def _by_own_name(self, fact: Fact) -> str:
        above = fact.parent.field if fact.parent and fact.parent.parent else None
        before = words_of(above.name)[-_TAIL:] if above else ()
        is_scalar = fact.is_scalar or _are_parts(fact.value)
        return self._group((*before, *words_of(fact.name)), len(before), fact.value, is_scalar=is_scalar)

    def _group(self, words: Sequence[str], begins: int, value: Any, *, is_scalar: bool) -> str:
        """The group of a name.

        Args:
            begins: the position of its own first word; before are those of what is around it.
        """
        never = [(match.start, match.end) for match in self._never.find(words)]
        for match in self._names.find(words):
            if match.end <= begins or any(start <= match.start < end for start, end in never):
                continue
            rest = {word for word in (*words[begins : match.start], *words[match.end :]) if not word.isdecimal()}
            if match.is_whole and not (rest <= spelling("person") and (is_scalar or _is_person(match.group))):
                continue
            if match.group == _ADDED or not _only_tells_of_it(match, words, rest, value, is_scalar=is_scalar):
                return match.group
        return ""

    def _by_what_it_is_called(self, fact: Fact) -> str:
        """An object may be a person by its role, and a field may hold what its neighbour names."""
        if isinstance(fact.value, dict):
            person = next(filter(None, map(self._by_role, roles_of(fact.value))), "")
            if person and not _is_requirement(fact):
                return person
        if isinstance(fact.value, bool):
            return ""
        found = (self._by_label(label, fact) for label in labels_of(fact))
        return next(filter(None, found), "")

    def _by_role(self, role: str) -> str:
        words = words_of(role)
        found = (match for match in self._names.find(words) if _ends(match, words) and not match.is_whole)
        return next((match.group for match in found if _is_person(match.group)), "")

    def _by_label(self, label: str, fact: Fact) -> str:
        words = words_of(label)
        for match in self._names.find(words):
            rest = {*words[: match.start], *words[match.end :]}
            if match.is_whole:
                is_it = (fact.in_list or is_answer(fact.name)) and rest <= spelling("person") | spelling("asking")
            else:
                is_it = _ends(match, words) or label.rstrip().endswith("?")
            only_tells = _only_tells_of_it(match, words, rest, fact.value, is_scalar=True)
            if is_it and not only_tells and not _is_person(match.group):
                return match.group
        return ""


@lru_cache(maxsize=256)
def sensitive_fields(added: tuple[str, ...] = (), printable: tuple[str, ...] = ()) -> SensitiveFields:
    """The list of an organization, put together once."""
    return SensitiveFields(added, printable)


def _only_tells_of_it(match: Match, words: Sequence[str], rest: set[str], value: Any, *, is_scalar: bool) -> bool:
    """Whether a field says whether there is such a thing, or how many, and not what it is."""
    if _class(match.group).get("is_confidential"):
        return False
    if _class(match.group).get("has_digits") and not _has_digits(value):
        return True
    if _is_person(match.group):
        return _counts(value) and rest <= spelling("counting") | spelling("describing") | spelling("person")
    if isinstance(value, bool) or (match.is_whole and _class(match.group).get("is_countable") and _counts(value)):
        return True
    return is_scalar and match.end < len(words) and words[-1] in spelling("describing")


def _by_value(fact: Fact) -> str:
    """By what is in a field, be it in parts, and by a name that is itself a number of an account or person."""
    own = "" if fact.in_list else _of_value(fact.name)
    if own or fact.is_scalar:
        return own or _of_value(fact.value)
    parts = [*fact.value.values()] if isinstance(fact.value, dict) and len(fact.value) <= _MOST_PARTS else fact.value
    if _are_parts(parts) and all(isinstance(part, str) for part in parts):
        return _of_value(f"{''.join(parts)}; {' '.join(parts)}")
    is_amounts = not spelling("amounts").isdisjoint(words_of(fact.field.name))
    return "" if is_amounts or isinstance(fact.value, dict) else next(filter(None, map(_of_value, _cards(parts))), "")


def _cards(parts: Sequence[Any]) -> Iterator[str]:
    """The number that parts of a card's are together. Of what is stored as a number, zeros before it are lost."""
    for sizes in _CARD_PARTS:
        if len(parts) == len(sizes) and all(map(_is_part, parts)):
            digits = [str(part).zfill(size) for part, size in zip(parts, sizes, strict=True)]
            yield from ["".join(digits)] if tuple(map(len, digits)) == sizes else []


def _are_parts(value: Any) -> bool:
    """Whether a list may hold the parts of one number."""
    if not (isinstance(value, list) and 1 < len(value) <= _MOST_PARTS and all(map(_is_part, value))):
        return False
    return sum(len(str(part)) for part in value) >= _FEWEST_SIGNS


def _is_part(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _MOST_PARTS and value.isalnum() and any(map(str.isdigit, value))
    return isinstance(value, int | Decimal) and not isinstance(value, bool) and 0 <= value < _MOST_IN_PART


def _of_value(value: Any) -> str:
    return next((tables()["values"][kind] for kind in kinds(value)), "")


def _ends(match: Match, words: Sequence[str]) -> bool:
    return match.end == len(words) or words[match.end] == "of"


def _counts(value: Any) -> bool:
    if isinstance(value, str):
        return value.isdecimal() and len(value) < len(str(_MOST_COUNTED))
    return isinstance(value, int) and 0 <= value < _MOST_COUNTED


def _has_digits(value: Any) -> bool:
    if isinstance(value, str):
        return sum(map(str.isdigit, value)) >= _DIGITS_OF_TEXT
    return isinstance(value, int) and len(str(value)) >= _DIGITS_OF_NUMBER


def _is_person(group: str) -> bool:
    return bool(_class(group).get("is_person"))


def _class(group: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = tables()["classes"].get(group, {})
    return found


def _is_outcome(fact: Fact) -> bool:
    """Reasons and factors have names of their own, which say what was decided by."""
    return bool(lineage := fact.lineage()) and lineage[0].name == "outcome"


def _is_requirement(fact: Fact) -> bool:
    """Whether a part of the outcome says what is asked for, be it a guarantor, and nothing of who that is."""
    above = fact.lineage()[1:-1] if _is_outcome(fact) else ()
    is_asked = any(not spelling("requiring").isdisjoint(words_of(each.name)) for each in above)
    return is_asked and not names_somebody(fact.value)


def _title(group: str) -> str:
    if group == _ADDED:
        return "a field that your settings withhold"
    return str(_class(group)["title"]) if group else ""
