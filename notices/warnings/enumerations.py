"""Fields by which a pack chooses what to ask for: in a word that no condition of it knows, or not there at all."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from decisions.record import outcomes
from notices import kinds
from notices.checklist import Case
from notices.packs import Pack
from notices.warnings.findings import Finding

_LONGEST = 80


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    cautioned = _cautioned(case, content)
    for path in (*case.pack.asked, *case.pack.covers):
        if path not in cautioned and kinds.value(path, case.facts.get) in (None, ""):
            yield _finding(f"The record does not say {path}, so nobody can tell which of the pack's rules hold.")
    for path, known in _enumerations(case.pack).items():
        value = case.facts.get(path)
        is_known = isinstance(value, str) and outcomes.spelling(value) in map(outcomes.spelling, known)
        if value not in (None, "") and not is_known:
            told = f"“{value[:_LONGEST]}”" if isinstance(value, str) else "What stands there"
            yield _finding(
                f"{told} is no value of {path} that this pack knows, so nobody can tell which of its rules hold. "
                f"It knows {', '.join(known)}."
            )


def _cautioned(case: Case, content: Mapping[str, Any]) -> frozenset[str]:
    """The fields that one of the pack's own warnings about this record is about."""
    conditions = (
        condition
        for caution in case.pack.cautions
        if caution.applies_to(case.facts.get, content)
        for condition in caution.when.conditions
    )
    return frozenset(path for condition in conditions for path in condition.paths)


def _finding(sentence: str) -> Finding:
    return Finding("unknown_value", "rights", sentence)


def _enumerations(pack: Pack) -> Mapping[str, list[str]]:
    """The fields that the pack's conditions compare with several words, and those words; but those of `notices.kinds`,
    which has its own warning.

    What is compared with one word alone may well be another: `subject.jurisdiction` has more values than a pack names.
    """
    known: dict[str, list[str]] = defaultdict(list)
    for part in (*pack.elements, *pack.clocks, *pack.locked):
        for condition in part.when.conditions:
            words = [value for value in condition.values if isinstance(value, str)]
            for path in condition.paths if condition.subject == "record" else ():
                if path not in outcomes.PATHS and not kinds.has(path):
                    known[path].extend(word for word in words if word not in known[path])
    return {path: words for path, words in known.items() if len(words) > 1 and not path.endswith(".jurisdiction")}
