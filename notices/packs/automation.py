"""Conditions on the maker of a decision, a system alone or a person, such as `if decision automated`."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, Final

from decisions.record import outcomes

Record = Callable[[str], Any]
"""Returns the value at a path of the decision record, or None."""

SOLELY: Final = "outcome.solely_automated"
INVOLVEMENT: Final = "approval.human_involvement"
_APPROVER = "approval.approver"
_MATERIALLY = "outcome.materially_influenced_by_system"
_SOLE_FACTOR = "outcome.sole_factor"
_NOBODY = frozenset(
    {"aucun", "aucune", "automated", "automatic", "false", "fully_automated", "kein", "keine", "no", "no_human"}
    | {"no_human_involvement", "no_one", "nobody", "none", "not_involved", "niemand", "personne", "solely_automated"}
    | {"vollautomatisch", "entièrement_automatisé", "sans_intervention_humaine", "keine_beteiligung"}
)
_DECIDED = frozenset(
    {"decided", "decided_by_human", "decided_by_a_human", "decided_by_person", "decided_by_a_person", "human_decision"}
    | {"human_decided", "made_by_human", "made_by_person", "manual", "manual_decision", "person_decided"}
    | {"decided_by_reviewer", "entschieden", "vom_menschen_entschieden", "décidé", "décidé_par_une_personne"}
)


def is_automated(record: Record) -> bool:
    """Whether laws on automated decisions apply: the system decided alone, or the record names no person who decided.

    A person decided if the record says so, or if a named reviewer reconsidered an earlier decision.
    """
    solely = record(SOLELY)
    if isinstance(solely, bool):
        return solely
    return not (_word(record) in _DECIDED or (reconsiders(record) and _has_approver(record) and not _is_nobody(record)))


def is_said(record: Record) -> bool:
    """Whether the record itself says if the system decided alone."""
    return isinstance(record(SOLELY), bool)


def is_review(record: Record) -> bool:
    """Whether a person reconsidered an earlier decision."""
    return reconsiders(record) and not is_automated(record)


def is_assisted(record: Record) -> bool:
    """Whether a system may have had a part in the decision: a flag says so, or the record names a system."""
    return is_influenced(record) or (bool(record("system")) and record(_MATERIALLY) is not False)


def is_influenced(record: Record) -> bool:
    """Whether a flag of the record says that a system had a part in the decision."""
    return record(SOLELY) is True or record(_MATERIALLY) is True


def reconsiders(record: Record) -> bool:
    """Whether the decision is about an earlier one."""
    return bool(record("reconsiders") or record("reconsiders.decision_id"))


FACTS: Final = {"assisted": is_assisted, "automated": is_automated, "influenced": is_influenced, "reviewed": is_review}


def contradictions(record: Record) -> list[str]:
    """Return the statements of a record about who decided that other fields contradict, each once."""
    return list(dict.fromkeys(chain.from_iterable(_contradictory_pairs(record))))


def _contradictory_pairs(record: Record) -> Iterator[tuple[str, str]]:
    solely, materially = record(SOLELY), record(_MATERIALLY)
    took_part = bool(_word(record)) and not _is_nobody(record)
    if solely is True and took_part:
        yield f"{SOLELY} is true", f"{INVOLVEMENT} tells of a person"
    if solely is True and _has_approver(record):
        yield f"{SOLELY} is true", f"{_APPROVER} names a person"
    if solely is True and materially is False:
        yield f"{SOLELY} is true", f"{_MATERIALLY} is false"
    if record(_SOLE_FACTOR) is True and materially is False:
        yield f"{_SOLE_FACTOR} is true", f"{_MATERIALLY} is false"
    if solely is False and _is_nobody(record):
        yield f"{SOLELY} is false", f"{INVOLVEMENT} says that no person took part"
    if _has_approver(record) and _is_nobody(record):
        yield f"{INVOLVEMENT} says that no person took part", f"{_APPROVER} names a person"


def _word(record: Record) -> str:
    """Return how people took part, in one spelling; "" if the record does not say."""
    value = record(INVOLVEMENT)
    if isinstance(value, bool):
        return "true" if value else "false"
    word = outcomes.spelling(value) if isinstance(value, str) else ""
    return "" if word in ("n_a", "na", "null", "unknown", "unbekannt", "inconnu") else word


def _is_nobody(record: Record) -> bool:
    return _word(record) in _NOBODY


def _has_approver(record: Record) -> bool:
    """Whether the record names a person as approver, not a system or a word for none."""
    value = record(_APPROVER)
    if not isinstance(value, str):
        return isinstance(value, dict | list | int) and bool(value)
    name = outcomes.spelling(value)
    return name not in {"", "n_a", "na", "null", "system", "system_alone", "auto", *_NOBODY}
