"""Sentences in another language than the letter: what a record says in prose is printed as it stands."""

from collections.abc import Iterator, Mapping
from typing import Any

from notices.checklist import Case
from notices.localization import MAX_TEXT
from notices.localization.sentences import one_line
from notices.warnings.findings import Finding, statements
from notices.wording.language import is_other_language
from notices.wording.reasons import says_nothing

_ABOUT_FIELDS = ("role_of_automated_system", "inputs_used")
"""Sections that tell of fields one by one. In the others the record speaks in sentences."""


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    language = str(content["language"])
    for statement in statements(content):
        value = case.facts.get(statement.source)
        if not isinstance(value, str) or says_nothing(value):
            continue
        prose, is_value = _prose(statement.text, value), statement.section in _ABOUT_FIELDS
        if is_other_language(prose, language, is_value=is_value):
            yield statement.finding(
                "other_language",
                f"In another language than the letter, as it seems: {statement.name}. Write it anew, or give the "
                "phrasebook a sentence for it.",
            )


def _prose(sentence: str, value: str) -> str:
    """What a sentence has from the record where it has all of the field, else the sentence."""
    text = one_line(value) if len(value) <= MAX_TEXT else ""
    return text if text and text in one_line(sentence) else sentence
