"""Drafting: the same record, pack, language and phrasebook always give the same content, and no model is asked.

A statement is one sentence with one source that resolves in the record. What the record does not say is not said.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from notices.drafting.phrases import FieldPhrases
from notices.drafting.redaction import Redaction, redaction_of
from notices.drafting.selection import Selection
from notices.drafting.statements import statements
from notices.drafting.writer import StatementWriter
from notices.limits import Statement
from notices.localization import catalog
from notices.packs import Pack, fill
from notices.phrasebook import Phrase, Phrasebook
from notices.record_paths import Facts

__all__ = ["Draft", "Redaction", "Statement", "draft", "redaction_of"]


@dataclass(frozen=True, slots=True)
class Draft:
    content: dict[str, Any]
    """The twelve content fields of a notice, as the contract names them."""
    withheld: tuple[str, ...]
    """The paths of what the phrasebook kept out."""
    phrases: tuple[Phrase, ...]
    """Those that had a part in it."""


def draft(
    facts: Facts,
    pack: Pack,
    language: str,
    phrasebook: Phrasebook,
    placeholders: Mapping[str, str],
) -> Draft:
    """What a notice says about a record.

    Args:
        placeholders: the organization's names and addresses, for the pack's texts; what the record says comes first.
            One that is missing stays in braces, where the checklist finds it.

    Raises:
        TooMuch: the record says more than a notice holds.
    """
    text = pack.text(language)
    phrases = FieldPhrases(phrasebook)
    writer = StatementWriter(facts, catalog(language, pack.locales.get(language, "")), phrases)
    sections, withheld = statements(Selection(facts, pack, phrases), writer)
    review = _review_available(facts, pack)
    how_to_request_review = {True: text.how_to_request_review, False: text.no_review, None: ""}[review]
    rights = [*text.rights, *pack.locked_texts(language, facts.get), *([text.withheld] if withheld else [])]
    values = {**placeholders, **pack.recorded(facts.get)}

    def filled(template: str) -> str:
        return fill(template, values)

    content = {
        "title": filled(text.title),
        **sections,
        "how_to_request_inputs": filled(text.how_to_request_inputs),
        "rights": [filled(right) for right in rights],
        "human_review_available": review is True,
        "how_to_request_review": filled(how_to_request_review),
        "deadline_note": filled(text.deadline_note),
        "framework": text.framework,
        "language": language,
    }
    return Draft(content, withheld, tuple(phrases.used.values()))


def _review_available(facts: Facts, pack: Pack) -> bool | None:
    """Whether a person reviews the decision if asked to; None where neither the law nor the record says so."""
    if facts.get("outcome.review.not_commercially_reasonable"):
        return False
    if any(element.check == "is_true" and element.applies_to(facts.get) for element in pack.elements):
        return True
    available = facts.get("outcome.review.available")
    return available if isinstance(available, bool) else None
