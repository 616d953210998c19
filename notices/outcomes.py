"""The words that records have for what was decided: one table, for letters and for the conditions of packs."""

import re
import tomllib
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

from config.unicode_forms import normalize

PATHS: Final = ("outcome.action", "outcome.result")
"""Where a record says it."""
_INSTEAD = ("decision", "determination", "disposition", "verdict")
INSTEAD: Final = tuple(f"outcome.{name}" for name in (*_INSTEAD, *(f"decision.{each}" for each in ("action", "type"))))
"""Where records without an action say it."""
_BETWEEN = re.compile(r"[\W_]+")
_LONGEST = 64
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_ASKED_FOR = frozenset(
    {"application", "benefit", "benefits", "card", "claim", "credit", "increase", "limit", "line", "loan", "mortgage"}
    | {"request", "antrag", "kredit", "leistung", "demande", "prêt", "prestation"}
)
"""Words before an outcome that say what was asked for: `loan_denied`."""
_ANSWERS = frozenset(
    {"approved", "conditionally_approved", "counteroffer", "denied", "partially_approved", "pending", "referred"}
    | {"incomplete", "withdrawn"}
)
_NO_ANSWER = frozenset({"advanced", "fail", "failed", "offered", "paid", "partial", "pass", "passed"})
"""What happens to a loan or a claim that was granted before, or to a file."""
_HELD = frozenset(
    {"account", "benefit", "benefits", "card", "contract", "coverage", "credit", "limit", "line", "membership"}
    | {"plan", "policy", "service", "subscription", "konto", "leistung", "vertrag", "compte", "contrat"}
)
"""Words before an outcome that say what somebody has: `account_locked`."""
_TAKEN = frozenset({"ended", "reduced", "suspended"})
_WHEN = ("at", "on", "date")
"""The last words of names of times."""


class Outcome(NamedTuple):
    kind: str
    """What packs ask for: `approved` for all that gives the person what they asked for."""
    word: str
    """What letters have a sentence for."""


def outcome(value: Any) -> Outcome | None:
    """What a record's word means; None if it is no word of the table."""
    if not isinstance(value, str):
        return None
    word = spelling(value)
    return _table().get(word) or _of_thing(word)


def _of_thing(word: str) -> Outcome | None:
    """What a word means that begins with what was decided about."""
    things, found = set[str](), None
    while not found and "_" in word:
        thing, _, word = word.partition("_")
        things.add(thing)
        found = _table().get(word)
    if found and (
        (found.kind in _ANSWERS and word not in _NO_ANSWER and things <= _ASKED_FOR | {"account"})
        or (found.kind in _TAKEN and things <= _HELD)
    ):
        return found
    return None


def told_at(record: Callable[[str], Any]) -> str:
    """Where a record says what was decided: in its action, else in another field that has a word of the table.

    Args:
        record: gives the value at a path, None where there is nothing.
    """
    action = PATHS[0]
    if record(action) not in (None, ""):
        return action
    return next((path for path in INSTEAD if outcome(record(path))), action)


def said(record: Callable[[str], Any]) -> Any:
    """The word for what was decided; the result of the whole, where nothing else says it."""
    found = record(told_at(record))
    return record(PATHS[1]) if found in (None, "") else found


def is_said_twice(record: Callable[[str], Any]) -> bool:
    """Whether the action says no more than the result: an appeal that was upheld, and that the decision is upheld."""
    action, result = (outcome(record(path)) for path in PATHS)
    return action is not None and action == result


def kind(value: Any) -> Any:
    """The kind of outcome that a word is; what is no word of the table is its own kind, however it is spelled."""
    known = outcome(value)
    return known.kind if known else spelling(value) if isinstance(value, str) else value


def spelling(word: str) -> str:
    """A word in one spelling of many: `PartiallyApproved`, `PARTIALLY-APPROVED` and `partially approved` are one."""
    return _spelling(word[:_LONGEST])


@lru_cache(4096)
def _spelling(word: str) -> str:
    """Packs and records use the same words again and again."""
    text = normalize("NFKC", word.replace("\x00", ""))
    if not text.islower():
        text = "".join(f"_{one}" if one.isupper() and last.islower() else one for last, one in pairwise(f"_{text}"))
    return _BETWEEN.sub("_", text).strip("_").casefold()


def _without_accents(word: str) -> str:
    """A word as keyboards without its letters write it: `gekuendigt`, `accordee`."""
    letters = normalize("NFD", word.translate(_UMLAUTS))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def folded(name: str) -> str:
    """The name of a field without its spelling: `receivedAt`, `received-on` and `received_at` are one."""
    *words, last = spelling(name).split("_")
    return "".join((*words, "at" if words and last in _WHEN else last))


@cache
def _table() -> dict[str, Outcome]:
    kinds: dict[str, dict[str, list[str]]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    spelled = {
        spelling(each): Outcome(kind, word)
        for kind, words in kinds.items()
        for word, spellings in words.items()
        for each in (word, *spellings)
    }
    return {_without_accents(each): meaning for each, meaning in spelled.items()} | spelled
