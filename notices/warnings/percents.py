"""Percentages that may be shares: nobody can tell an `apr` of 0.189 from one of 18.9 percent."""

from collections.abc import Iterator, Mapping
from typing import Any

from notices.checklist import Case
from notices.localization.names import parse_name
from notices.outcome_parts import is_number
from notices.record_paths import NoSuchField
from notices.warnings.findings import Finding, statements


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    for statement in statements(content):
        try:
            fact = case.facts.find(statement.source)
        except NoSuchField:
            continue
        if is_number(fact.value) and parse_name(fact.field.name).is_unclear_percent(fact.value):
            yield statement.finding(
                "unclear_percent",
                f"{fact.path} is {fact.value}, and the record does not make plain whether that is {fact.value} or "
                f"{(fact.value * 100):g} percent: find out, and write it into the sentence.",
            )
