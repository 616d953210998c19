"""Words for outcomes in records: one table for the index of decisions, letters, and the conditions of packs."""

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
"""The fields of a record that say its outcome."""
INSTEAD: Final = ("outcome.decision", "outcome.status")
"""The fields that say the outcome in records without an action."""
_BETWEEN = re.compile(r"[\W_]+")
_LONGEST = 64
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_ASKED_FOR = frozenset(
    {"application", "benefit", "benefits", "card", "claim", "credit", "increase", "limit", "line", "loan", "mortgage"}
    | {"request", "antrag", "kredit", "leistung", "demande", "prêt", "prestation"}
)
"""Words before an outcome for the thing requested: `loan_denied`."""
_ANSWERS = frozenset(
    {"approved", "conditionally_approved", "counteroffer", "denied", "partially_approved", "pending", "referred"}
    | {"incomplete", "withdrawn"}
)
_NO_ANSWER = frozenset({"advanced", "fail", "failed", "offered", "paid", "partial", "pass", "passed"})
"""Events in the life of a granted loan or claim, or of a file."""
_HELD = frozenset(
    {"account", "benefit", "benefits", "card", "contract", "coverage", "credit", "limit", "line", "membership"}
    | {"plan", "policy", "service", "subscription", "konto", "leistung", "vertrag", "compte", "contrat"}
)
"""Words before an outcome for a thing that the person has: `account_locked`."""
_TAKEN = frozenset({"ended", "reduced", "suspended"})
_WHEN = ("at", "on", "date")
"""The last words of names of times."""


class Outcome(NamedTuple):
    """The meaning of a word for an outcome.

    Attributes:
        kind: the kind that packs ask for: `approved` for every outcome that gives the person what they asked for.
        word: the word that letters have a sentence for.
    """

    kind: str
    word: str


def outcome(value: Any) -> Outcome | None:
    """Return the meaning of a record's word, or None if the table does not have it."""
    if not isinstance(value, str):
        return None
    word = spelling(value)
    return _table().get(word) or _of_thing(word)


def _of_thing(word: str) -> Outcome | None:
    """Return the meaning of a word that begins with the thing decided about, or None."""
    things, meaning = set[str](), None
    while not meaning and "_" in word:
        thing, _, word = word.partition("_")
        things.add(thing)
        meaning = _table().get(word)
    if meaning and (
        (meaning.kind in _ANSWERS and word not in _NO_ANSWER and things <= _ASKED_FOR | {"account"})
        or (meaning.kind in _TAKEN and things <= _HELD)
    ):
        return meaning
    return None


def told_at(record: Callable[[str], Any]) -> str:
    """Return the path of the outcome: the action, else another field that has a word of the table.

    Args:
        record: returns the value at a path of the record, or None.
    """
    action = PATHS[0]
    if record(action) not in (None, ""):
        return action
    return next((path for path in INSTEAD if outcome(record(path))), action)


def said(record: Callable[[str], Any]) -> Any:
    """Return the record's word for the outcome, or else its result."""
    word = record(told_at(record))
    return record(PATHS[1]) if word in (None, "") else word


def is_said_twice(record: Callable[[str], Any]) -> bool:
    """Whether action and result mean the same, as in an upheld appeal against a decision that is upheld."""
    action, result = (outcome(record(path)) for path in PATHS)
    return action is not None and action == result


def kind(value: Any) -> Any:
    """Return the kind of outcome of a word. A word that the table does not have is its own kind, in any spelling."""
    known = outcome(value)
    return known.kind if known else spelling(value) if isinstance(value, str) else value


def spelling(word: str) -> str:
    """Return a word in one spelling: `PartiallyApproved` and `PARTIALLY-APPROVED` become `partially_approved`."""
    return _spelling(word[:_LONGEST])


@lru_cache(4096)
def _spelling(word: str) -> str:
    """Return the spelling of a word. Packs and records repeat the same words."""
    text = normalize("NFKC", word.replace("\x00", ""))
    if not text.islower():
        text = "".join(f"_{one}" if one.isupper() and last.islower() else one for last, one in pairwise(f"_{text}"))
    return _BETWEEN.sub("_", text).strip("_").casefold()


def _without_accents(word: str) -> str:
    """Return a word as keyboards without its letters write it: `gekuendigt`, `accordee`."""
    letters = normalize("NFD", word.translate(_UMLAUTS))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def folded(name: str) -> str:
    """Return the name of a field in one spelling, the same for `receivedAt`, `received-on` and `received_at`."""
    *words, last = spelling(name).split("_")
    return "".join((*words, "at" if words and last in _WHEN else last))


@cache
def _table() -> dict[str, Outcome]:
    kinds: dict[str, dict[str, list[str]]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    spelled = {
        spelling(variant): Outcome(kind, word)
        for kind, words in kinds.items()
        for word, variants in words.items()
        for variant in (word, *variants)
    }
    return {_without_accents(variant): meaning for variant, meaning in spelled.items()} | spelled
