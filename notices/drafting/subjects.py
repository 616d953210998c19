"""What a decision is about: a loan, a claim, a job. By the words that the record has for it."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from notices.localization.names import words_of
from notices.record_paths import Fact, Facts, NoSuchField

_OWN = {"antrag", "application", "authorization", "bewerbung", "claim", "demande", "request"}
"""Words in the names of events that came from the person."""
_PRODUCT = {
    f"{of}{name}"
    for name in ("benefit", "category", "kind", "product", "program", "programme", "scheme", "service", "type")
    for of in ("", "loan ", "credit ", "requested ", "application ", "insurance ", "card ", "product ", "account ")
} | {"product name", "produkt", "produktart", "produit", "produit demandé", "leistung"}
_LOOKED_UP = {"auskunft", "bureau", "check", "dossier", "file", "history", "pull", "reference", "references", "report"}
_LOOKED_UP |= {"score", "scoring", "screening", "search", "verification"}
"""Words in the names of events that brought something about the person: tenants are asked for credit reports, too."""
RECONSIDERED: Final = "reconsiders.decision_id"
_MOST_NAMES, _LONGEST = 500, 500


def subject_of(facts: Facts) -> str:
    """The key of what was decided about, as catalogs have it; `other` where the record does not tell, and `original` if
    it is then a person's second look: "your request" would be that for the look."""
    events = _children(facts, "events")
    own = [event for event in events if not _OWN.isdisjoint(words_of(event.name))]
    for words in _sources(facts, events, own):
        if found := next((subject for subject, pattern in _patterns().items() if pattern.search(words)), None):
            return found
    if facts.get(RECONSIDERED):
        return "original"
    return "application" if any("application" in words_of(event.name) for event in own) else "other"


def _sources(facts: Facts, events: list[Fact], own: list[Fact]) -> Iterator[str]:
    """Texts to ask, the most telling first. What a field is called, as `time_at_job`, says nothing of it."""
    yield _names(own)
    yield _products([field for event in own for field in _children_of(event)])
    yield _products([*_children(facts, "subject"), *_children(facts, "outcome")])
    yield " ".join(words_of_text(facts.get("system.purpose")))
    yield _names([event for event in events if _LOOKED_UP.isdisjoint(words_of(event.name))])


def _products(fields: list[Fact]) -> str:
    """What fields that are there for a product say: a whole name of theirs, for `claim_type` says nothing of it."""
    named = (field for field in fields if " ".join(words_of(field.name)) in _PRODUCT)
    return " . ".join(" ".join(words_of_text(field.value)) for field in named)


def words_of_text(value: object) -> list[str]:
    """The words of a short text, small; none of anything else."""
    return re.findall(r"[^\W_]+", value[:_LONGEST].casefold()) if isinstance(value, str) else []


def _names(fields: list[Fact]) -> str:
    return " . ".join(" ".join(words_of(field.name)) for field in fields[:_MOST_NAMES])


def _children(facts: Facts, path: str) -> list[Fact]:
    try:
        return _children_of(facts.at(path))
    except NoSuchField:
        return []


def _children_of(part: Fact) -> list[Fact]:
    return [] if part.is_scalar else list(part.children())


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    tables: dict[str, list[str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return {subject: re.compile(rf"\b(?:{'|'.join(map(_pattern, words))})\b") for subject, words in tables.items()}


def _pattern(word: str) -> str:
    return re.escape(word).replace(r"\*", r"\w*")
