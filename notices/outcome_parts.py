"""What the parts of a record's outcome are: reasons, conditions, terms of an offer. One table, for any spelling."""

import tomllib
from decimal import Decimal
from functools import cache, lru_cache
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Final, Literal, cast

from decisions.record import outcomes
from notices.localization import values
from notices.localization.names import LONGEST, words_of
from notices.localization.sentences import END_MARKS, one_line
from notices.record_paths import Fact

Kind = Literal[
    "reason", "condition", "missing", "offer", "term", "consequence", "decided", "date",
    "procedure", "score", "code", "attribution", "flag", "detail",
]  # fmt: skip
Key = Literal["prose", "name", "code", "path", "value", "direction", "attribution", ""]
NEVER_LOST: Final = frozenset({"reason", "condition", "missing", "offer", "term"})
"""What a letter has to tell, or the organization to withhold."""
TOLD: Final = NEVER_LOST | {"consequence", "decided", "date"}
"""What drafting tells wherever in the outcome it stands. The others are left to what packs ask for."""
_ITEMS = frozenset({"reason", "condition", "missing", "consequence"})
_AROUND: Final = frozenset({"value", "path", "direction", "attribution"})
"""What stands within such a part of a reason is no reason by itself."""
_MOST_READ = 50
"""Fields of a line item that are asked what it is: there may be thousands, and each of them asks."""
_SCORES = frozenset({"key_factors", "score_factors"})
"""Factors of a score are no reasons of a decision (12 CFR 1002.9(b)(2), comment 9)."""


def kind(fact: Fact) -> Kind:
    """What a scalar below `outcome` is."""
    names = [each.name for each in fact.lineage()[1:] if not each.in_list]
    value = fact.value
    if not names:
        return "detail"
    if names[0] in _SCORES:
        return "score"
    containers = [found for name in names if (found := _container(name))]
    container = (
        "condition" if containers[:1] == ["offer"] and "condition" in containers else next(iter(containers), None)
    )
    if container == "reason" and is_number(value) and key(names[-1], value) == "attribution":
        return "attribution"
    leaves = [found for name in reversed(names) if (found := _leaf(name))]
    leaf = "term" if leaves[:1] == ["decided"] and "term" in leaves else next(iter(leaves), None)
    meaning = key(names[-1], value) if container in _ITEMS else ""
    if container == "reason" and (value is False or any(key(name) in _AROUND for name in names[1:-1])):
        return "detail"
    if "code" in (leaf, meaning) and container != "offer":
        return "code"
    if container == "reason" and "code" in leaves:  # as below `reason_codes`, whatever it is called there
        return "code"
    if meaning in ("path", "direction") or (container == "reason" and _is_lone_number(fact, names)):
        return "detail"
    if container == "procedure":
        return "date" if _is_day(value) else "procedure"
    if container:
        return container
    if line_of(fact):
        is_number_of_line = is_number(value) and " ".join(words_of(names[-1])) in _table()["items"]["name"]
        return "code" if is_number_of_line else "detail" if names_item(fact) else "term"
    if leaf and not (leaf == "decided" and words_of(names[-1])[-1] == "by"):
        return leaf
    is_object = len(names) == 1 and " ".join(words_of(names[0])) in _table()["items"]["object"]
    if isinstance(value, str) and (is_object or values.is_money(value)):
        return "decided"
    beside = fact.field.parent
    if is_number(value) and beside and words_of(names[-1])[-1] in ("value", "minor", "cents"):
        return "detail" if _table()["items"]["currency"].isdisjoint(beside.value) else "decided"
    if isinstance(value, bool):
        return "flag"
    return "date" if _is_day(value) else "detail"


def line_of(fact: Fact) -> Fact | None:
    """The line item that a field below the outcome is a part of: one of a list of things that were decided about."""
    item = item_of(fact)
    is_line = item and _container_above(item) is None and any(map(_decides, islice(item.value.items(), _MOST_READ)))
    return item if is_line else None


def item_of(fact: Fact) -> Fact | None:
    """The line item, condition or missing thing of a list that a field below the outcome is a part of."""
    lineage = fact.lineage()
    item = next((each for each in lineage if each.in_list and isinstance(each.value, dict)), None)
    is_item = item and lineage[0].name == "outcome" and _container_above(item) in (None, "condition", "missing")
    return item if is_item else None


def item_name(item: Fact) -> Fact | None:
    """What names such an item, if it is short enough to stand beside what is said of it."""
    keys = islice(item.value, _MOST_READ)
    named = (item.child(key) for key in keys if " ".join(words_of(key)) in _table()["items"]["name"])
    return next((name for name in named if _is_name(name.value)), None)


def names_item(fact: Fact) -> bool:
    """Whether a field is what names its item."""
    item = item_of(fact)
    name = item_name(item) if item else None
    return name is not None and name.parent is not None and name.step == fact.step and name.value is fact.value


def gives_reasons(part: Fact) -> bool:
    """Whether what is called so gives reasons: not a number or a flag about them."""
    return not part.is_scalar or kind(part) == "reason"


def container(name: str) -> Kind | None:
    """What all that is below a field of this name is."""
    return "score" if name in _SCORES else _container(name)


def key(name: str, value: Any = None) -> Key:
    """What a key means in the object of a reason or factor.

    Args:
        value: what stands there. Of what can be either, a number is an attribution and a word a direction.
    """
    meanings = _keys(name)
    if {"direction", "attribution"} <= set(meanings):
        return "attribution" if is_number(value) else "direction"
    return meanings[0] if meanings else ""


def direction(value: Any) -> str | None:
    """Which way a factor counted, as messages name it; None for a word that is in no table."""
    if is_number(value):
        return "factor_for" if value > 0 else "factor_against" if value < 0 else None
    if not isinstance(value, str):
        return None
    return _directions().get(value.strip()) or _directions().get(" ".join(words_of(value)))


def has_factors(name: str) -> bool:
    """Whether what is called so has factors: things that counted, each with a value or a direction."""
    words = words_of(name)
    return not _table()["holders"]["factors"].isdisjoint(words) or words[-1].endswith(
        ("faktor", "faktoren", "merkmale")
    )


def has_attributions(name: str) -> bool:
    """Whether numbers in what is called so are a model's attributions."""
    return not _table()["holders"]["attributions"].isdisjoint(words_of(name))


def is_signed(name: str) -> bool:
    """Whether the sign of such an attribution says which way a factor moved the result: of a rank it says nothing."""
    return " ".join(words_of(name)) not in _table()["holders"]["unsigned"]


def offer_part(name: str) -> Literal["accept_how", "accept_until", "accept_within", "offer"]:
    """What a field of an offer tells: one of its terms, or how or until when it is accepted."""
    words, parts = set(words_of(name)), _table()["offers"]
    accepts = not words.isdisjoint(parts["accept"])
    if not words.isdisjoint(parts["until"]):
        return "accept_until"
    if accepts and not words.isdisjoint(parts["within"]):
        return "accept_within"
    return "accept_how" if accepts or not words.isdisjoint(parts["how"]) else "offer"


def tells_how(fact: Fact) -> bool:
    """Whether a part of a procedure is for the person: all of an appeal is, of a review how and by when to ask."""
    is_of_review = "review" in words_of(fact.lineage()[1].name)
    words, told = set(words_of(fact.field.name)), _table()["offers"]
    return not is_of_review or not words.isdisjoint(told["how"] | told["within"] | told["deadline"])


def has_more(codes: Any, reasons: Any) -> bool:
    """Whether there are more codes than reasons in words: else the reasons are told for them. A number or a flag alone
    is about the reasons, and none of them."""
    return _count(codes) > _count(reasons if isinstance(reasons, str | list | dict) else None)


def without_offer(label: str) -> str:
    """A label without the words that say that it is offered."""
    words = [word for word in label.split(" ") if word.casefold() not in _table()["containers"]["offer"]]
    return " ".join(words) or label


def is_number(value: Any) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _container_above(item: Fact) -> Kind | None:
    names = [each.name for each in item.lineage()[1:] if not each.in_list]
    return next(filter(None, map(container, names)), None)


def _decides(entry: tuple[str, Any]) -> bool:
    """Whether a field of an item says what was decided about it."""
    name, value = entry
    if value in (None, "") or isinstance(value, dict | list):
        return False
    return _leaf(name) in ("decided", "term") or outcomes.outcome(value) is not None


def _is_name(value: Any) -> bool:
    """Whether a value names something: no number, no day and no sentence."""
    if not isinstance(value, str) or not 0 < len(value.strip()) <= LONGEST:
        return False
    return values.parse_day(value) is None and not value.rstrip().endswith(END_MARKS)


def _is_lone_number(fact: Fact, names: list[str]) -> bool:
    """Whether a field is about the reasons, and none of them: `"number_of_reasons": 3`."""
    return len(names) == 1 and not (isinstance(fact.value, str) or fact.in_list)


def _count(value: Any) -> int:
    return sum(map(_says_anything, value if isinstance(value, list) else [value]))


def _says_anything(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(map(_says_anything, value.values() if isinstance(value, dict) else value))
    return value not in (None, False) and (not isinstance(value, str) or bool(one_line(value)))


def _is_day(value: Any) -> bool:
    return isinstance(value, str) and values.parse_day(value) is not None


def _container(name: str) -> Kind | None:
    return _kind_of(name[: LONGEST + 1], "containers")


def _leaf(name: str) -> Kind | None:
    return _kind_of(name[: LONGEST + 1], "leaves")


@lru_cache(maxsize=4096)
def _kind_of(name: str, table: str) -> Kind | None:
    words = [word for word in words_of(name) if not word.isdecimal()]
    said = [*words, *map(" ".join, pairwise(words))]
    compounds = _table()["compounds"] if table == "containers" else {}
    others = compounds.get("others", frozenset())
    for kind, known in _table()[table].items():
        if not known.isdisjoint(words[-1:] if kind == "code" else said):
            return cast(Kind, kind)
        if any(word.endswith(tuple(compounds.get(kind, ()))) for word in words if word not in others):
            return cast(Kind, kind)
    return None


@lru_cache(maxsize=4096)
def _keys_of(name: str) -> tuple[Key, ...]:
    words = " ".join(words_of(name))
    return tuple(meaning for meaning, known in _table()["names"].items() if words in known)  # type: ignore[misc]


def _keys(name: str) -> tuple[Key, ...]:
    return _keys_of(name[: LONGEST + 1])


@cache
def _directions() -> dict[str, str]:
    return {word: meaning for meaning, words in _table()["directions"].items() for word in words}


@cache
def _table() -> dict[str, dict[str, frozenset[str]]]:
    tables: dict[str, dict[str, list[str]]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return {table: {name: frozenset(words) for name, words in entries.items()} for table, entries in tables.items()}
