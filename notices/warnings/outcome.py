"""Outcomes in a word that the service does not know: then no condition of a pack knows what was decided either."""

from collections.abc import Iterator, Mapping
from typing import Any

from decisions.record import outcomes
from notices.checklist import Case
from notices.warnings.findings import Finding

_MAX_LENGTH = 80


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    for path in outcomes.PATHS:
        value = case.facts.get(path)
        if value is None or value == "" or outcomes.outcome(value):
            continue
        shown = f"“{value[:_MAX_LENGTH]}” is" if isinstance(value, str) else "What stands there is"
        yield Finding(
            "unknown_outcome",
            "decision_summary",
            f"{shown} no word for an outcome that this service knows ({path}). Check that the letter says what was "
            "decided, and that what it says of rights and reasons fits that.",
        )
