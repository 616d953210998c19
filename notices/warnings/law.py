"""What a pack says of its law beside the letter: cautions, and numbers that a record has otherwise than the law."""

from collections.abc import Iterator, Mapping
from typing import Any

from notices import deadlines, kinds
from notices.checklist import Case
from notices.warnings.findings import Finding

_LONGEST = 80


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    for caution in case.pack.cautions:
        if caution.applies_to(case.facts.get, content):
            yield Finding(caution.id, "", f"{caution.sentence} ({caution.citation}).")
    yield from _numbers(case)
    yield from _days_for_information(case)
    paths = tuple(path for path in case.pack.record_paths if path not in case.pack.covers)
    for path, word in kinds.unknown(paths, case.facts.get):
        shown = f"“{word[:_LONGEST]}” is" if isinstance(word, str) else "What stands there is"
        sentence = f"{shown} no word that this service knows in {path}: what the law asks by it is not checked."
        yield Finding("unknown_kind", "", sentence)


def _numbers(case: Case) -> Iterator[Finding]:
    recorded = case.pack.record_values(case.facts.get)
    for law in case.pack.by_law:
        number = recorded.get(law.placeholder)
        if number is not None and law.applies_to(case.facts.get) and not law.allows(number):
            wanted = f"at least {law.value}" if law.at_least else str(law.value)
            sentence = f"The record has {number[:_LONGEST]} for {law.placeholder}, and the letter {law.value}: the law"
            yield Finding("other_than_by_law", "rights", f"{sentence} gives {wanted} ({law.citation}).")


def _days_for_information(case: Case) -> Iterator[Finding]:
    days = deadlines.days_for_information(case.facts)
    for clock in case.pack.clocks:
        least = clock.missing_information_days
        if least and days is not None and days < least and clock.applies_to(case.facts.get):
            sentence = f"The person had {days} days to send what was missing, and the law gives at least {least}"
            yield Finding("too_few_days", "", f"{sentence} ({clock.citation}).")
