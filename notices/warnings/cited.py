"""Sentences that a person wrote, each beside the field that it cites."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from notices.checklist import Case
from notices.localization import humanise
from notices.record_paths import Fact, NoSuchField, Scalar
from notices.warnings.findings import Finding, statements

_MAX_LENGTH = 120
"""Characters of a label or value that a warning shows."""


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    """Ask about every statement that the service did not draft whether it says what its field says."""
    for statement in statements(content):
        if statement.drafted_as in case.drafted:
            continue
        try:
            fact, stored = case.facts.find(statement.source), case.facts.stored(statement.source)
        except NoSuchField:  # a problem, which blocks
            continue
        value, decode = _as_text(stored), case.facts.decode(statement.source)
        if case.redaction.covers(fact) or case.facts.is_withheld(statement.source):
            value, decode = "withheld", ""
        label = case.facts.label(statement.source) or _label(fact)
        shown = f"{_shortened(label)}: {_shortened(value)}" + (f" ({decode})" if decode else "")
        sentence = f"Does {statement.name} say what this field says? {shown}"
        yield Finding("cited_field", statement.where, sentence, (statement.text, statement.source, value))


def _label(fact: Fact) -> str:
    """Return a field's path in words. List items count from 1."""
    parts = (str(int(step.step) + 1) if step.in_list else humanise(step.name) for step in fact.lineage())
    label = ", ".join(parts)
    return label[:1].upper() + label[1:]


def _as_text(value: Scalar) -> str:
    """Return a value as its record spells it."""
    return json.dumps(value) if value is None or isinstance(value, bool) else str(value)


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_LENGTH else f"{text[:_MAX_LENGTH]}…"
