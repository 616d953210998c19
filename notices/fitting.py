"""Which packs fit a decision, by where its law holds and what it decides about. Only an order: whoever drafts a notice
may choose any pack."""

import re
import tomllib
from collections.abc import Callable, Collection, Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from babel import Locale

from notices.packs import Pack

_TELLS_FIELD: Final = ("field", "kind", "system.purpose", "subject.type")
_JURISDICTION: Final = "subject.jurisdiction"
_CODE = re.compile(r"[A-Z]{2}(-[A-Z0-9]{1,3})?")
_BETWEEN = re.compile(r"[\W_]+")
_LONGEST = 500
_LANGUAGES = ("en", "de", "fr")


class Offer(NamedTuple):
    """The packs to choose from: those that fit the decision, the closest first, and the others."""

    fitting: list[Pack]
    others: list[Pack]

    def first_of(self, *wished: str) -> str:
        """The id of the pack to begin with: the first that is wished for and fits, else the closest."""
        ids = [pack.id for pack in self.fitting]
        return next((each for each in (*wished, *ids) if each in ids), wished[0] if wished else "")


def offer(packs: Iterable[Pack], record: Callable[[str], Any]) -> Offer:
    """The packs, in the order in which they fit a record. What the record does not tell, or not in words that are
    known, rules nothing out.

    Args:
        record: gives the value at a path of the decision record, None where there is nothing.
    """
    places, fields = _places(record(_JURISDICTION)), _fields(map(record, _TELLS_FIELD))
    distances = {pack.id: None if pack.not_covered(record) else _distance(pack.id, places, fields) for pack in packs}
    ordered = sorted(packs, key=lambda pack: distances[pack.id] or 0)
    return Offer(
        [pack for pack in ordered if distances[pack.id] is not None],
        [pack for pack in ordered if distances[pack.id] is None],
    )


def _distance(pack_id: str, places: Collection[str], fields: Collection[str]) -> int | None:
    """How far a pack is from what a record tells; None if it does not fit."""
    known = _table()["packs"].get(pack_id, {})
    near = [
        _match(_expanded(known.get("jurisdictions", ())), places, _overlap),
        _match(known.get("fields", ()), fields, str.__eq__),
    ]
    return None if False in near else -near.count(True)


def _match(asked: Collection[str], told: Collection[str], fits: Callable[[str, str], bool]) -> bool | None:
    """Whether what a pack asks for is what the record tells; None where one of the two says nothing."""
    return any(fits(one, other) for one in asked for other in told) if asked and told else None


def _overlap(one: str, other: str) -> bool:
    """Whether two places are the same, or one lies in the other."""
    return f"{one}-".startswith(f"{other}-") or f"{other}-".startswith(f"{one}-")


def _places(value: Any) -> list[str]:
    """The codes of where a record's law holds; none if it does not say so in a way that is known."""
    if not isinstance(value, str):
        return []
    spelled = " ".join(value[:_LONGEST].split())
    code = _spellings().get(spelled.casefold(), spelled.upper().replace("_", "-"))
    return _expanded([code]) if code in _table()["unions"] or _CODE.fullmatch(code) else []


def _expanded(codes: Iterable[str]) -> list[str]:
    unions = _table()["unions"]
    return [each for code in codes for each in unions.get(code, [code])]


def _fields(told: Iterable[Any]) -> list[str]:
    text = " ".join(_BETWEEN.sub(" ", each[:_LONGEST]) for each in told if isinstance(each, str)).casefold()
    return [field for field, pattern in _patterns().items() if pattern.search(text)]


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


@cache
def _spellings() -> dict[str, str]:
    names = {
        name.casefold(): code
        for language in _LANGUAGES
        for code, name in Locale(language).territories.items()
        if _CODE.fullmatch(code)
    }
    return names | {spelling.casefold(): code for spelling, code in _table()["spellings"].items()}


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    return {
        # linear: alternatives without repeats
        field: re.compile("|".join(_pattern(word.casefold()) for word in words))
        for field, words in _table()["fields"].items()
    }


def _pattern(word: str) -> str:
    return re.escape(word[1:]) if word.startswith("*") else rf"\b{re.escape(word)}"
