"""Reasons that say nothing, or that the law does not take for one."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from notices.checklist import Case
from notices.packs import Element
from notices.record_paths import Facts
from notices.warnings.findings import Finding, statements
from notices.wording.reasons import telling_words, words

_SECTION = "main_factors"


def findings(case: Case, content: Mapping[str, Any], missing: Sequence[Element]) -> Iterator[Finding]:
    """
    Args:
        missing: elements whose absence is a problem. Where one is for reasons, the problem says that there are none.
    """
    patterns = case.pack.text(str(content["language"])).weak_reasons
    for statement in statements(content, _SECTION):
        telling = telling_words(statement.text)
        if not telling:
            if any(element.where == _SECTION and element.counts(statement.source) for element in missing):
                continue
            sentence = f"No reason in words is given in {statement.name}: say what it was about."
            yield statement.finding("no_reason", sentence)
            continue
        said = words(statement.text)
        is_number = _is_number(case.facts, statement.source)
        fitting = (
            each
            for each in case.pack.weak_reasons
            if (each.measured or not is_number) and patterns[each.id].fits(said, telling)
        )
        if weak := next(fitting, None):
            yield statement.finding(weak.id, f"{weak.advice} ({weak.citation}). This is about {statement.name}.")


def _is_number(facts: Facts, source: str) -> bool:
    value = facts.get(source)
    return isinstance(value, int | Decimal) and not isinstance(value, bool)
