"""An outcome in a word that the service does not know: then no condition of a pack knows what was decided either. One
whose word promises conditions or an offer that no statement tells. And sentences that say the opposite of the outcome
that they cite."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from decisions.record import outcomes
from notices import outcome_parts
from notices.checklist import Case
from notices.record_paths import NoSuchField
from notices.warnings.findings import Finding, statements
from notices.wording.contents import WORD

_LONGEST = 80
_PROMISED: Mapping[str, tuple[str, frozenset[str]]] = {
    "conditionally_approved": ("conditions", frozenset({"condition", "missing", "term"})),
    "counteroffer": ("an offer", frozenset({"offer", "term", "decided"})),
}
"""What such an outcome has, and what the parts of it are that tell of it."""

_DECIDING = {"accepted", "approved", "declined", "denied", "granted", "pending", "rejected"}
"""Words of the table that say in any sentence what became of a case, with their other spellings but for these."""
_OTHERWISE = {"adverse", "allowed", "funded", "issued", "offered", "paid", "qualified"}
_NOT = {"cannot", "jamais", "kein", "keine", "never", "nicht", "no", "nor", "not", "pas", "t", "unable"}
_CLAUSES = re.compile(r"[.!?;:]")
_REACH = 4
"""Words after which such a word is no longer about another."""
_DECIDED, _YET = {"decided", "décidé", "décidée", "entschieden"}, {"encore", "noch", "still", "yet"}
_AGAINST: Mapping[str, set[str]] = {
    "approved": {"denied", "pending"},
    "denied": {"approved", "pending"},
    "pending": {"approved", "denied"},
    "referred": {"approved", "denied"},
    "incomplete": {"approved"},
    "withdrawn": {"approved"},
}
"""What no sentence may say of an outcome of a kind."""


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    for path in outcomes.PATHS:
        value = case.facts.get(path)
        if value is None or value == "" or outcomes.outcome(value):
            continue
        told = f"“{value[:_LONGEST]}” is" if isinstance(value, str) else "What stands there is"
        yield Finding(
            "unknown_outcome",
            "decision_summary",
            f"{told} no word for an outcome that this service knows ({path}). Check that the letter says what was "
            "decided, and that what it says of rights and reasons fits that.",
        )
    path = outcomes.told_at(case.facts.get)
    said = outcomes.outcome(case.facts.get(path))
    what, kinds = _PROMISED.get(said.kind if said else "", ("", frozenset()))
    if kinds and kinds.isdisjoint(_told(case, content)):
        yield Finding(
            "untold_terms",
            "decision_summary",
            f"{path} speaks of {what}, and no statement says which: write in what the person has to know, or send the "
            "letter when the record has it.",
        )
    for statement in statements(content):
        if statement.source != path or not said:
            continue
        kinds_said = {kind for clause in _CLAUSES.split(statement.text) for kind in _said(clause)}
        if said.kind not in kinds_said and kinds_said & _AGAINST.get(said.kind, set()):
            yield statement.finding(
                "other_outcome",
                f"{statement.name} seems to say something else than the outcome that it cites: {path} is {said.word}.",
            )


def _said(clause: str) -> Iterator[str]:
    """The kinds of outcomes that a clause speaks of: what was not denied was approved."""
    words = [word.casefold() for word in WORD.findall(clause)]
    for index, word in enumerate(words):
        is_negated = not _NOT.isdisjoint(words[max(0, index - _REACH) : index])
        if is_negated and word in _DECIDED and not _YET.isdisjoint(words):
            yield "pending"
        found = outcomes.outcome(word)
        if found and found.word in _DECIDING and word not in _OTHERWISE:
            opposite = {"approved": "denied", "denied": "approved"}.get(found.kind, found.kind)
            yield opposite if is_negated else found.kind


def _told(case: Case, content: Mapping[str, Any]) -> Iterator[str]:
    """What kinds of parts of the outcome the letter tells."""
    for statement in statements(content):
        try:
            fact = case.facts.find(statement.source)
        except NoSuchField:
            continue
        if fact.lineage()[0].name == "outcome":
            yield outcome_parts.kind(fact)
