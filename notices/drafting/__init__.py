"""Drafting: the same record, mapping, pack, language and phrasebook always give the same content.

A statement is one sentence with one source that resolves in the record. A draft says what the record's profile says.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

from notices.content_limits import Statement
from notices.deadlines import decided_on
from notices.drafting.how_to_request import how_to_request
from notices.drafting.phrases import FieldPhrases, Withholding
from notices.drafting.redaction import Redaction, redaction_by, redaction_of
from notices.drafting.sections import Selection
from notices.drafting.sentences import Sentences
from notices.drafting.writing import statements
from notices.localization import catalog
from notices.packs import Pack, fill, flags
from notices.phrasebook import Phrase, Phrasebook
from notices.record_paths import Facts

__all__ = [
    "RIGHTS",
    "Draft",
    "Redaction",
    "Statement",
    "Withholding",
    "draft",
    "language_of",
    "readers_language",
    "redaction_of",
    "review_available",
]

RIGHTS: Final = (
    "how_to_request_inputs",
    "rights",
    "human_review_available",
    "how_to_request_review",
    "deadline_note",
)
"""The fields of a content about rights. For a decision from before a law gave them, its pack leaves them empty."""
_WHY_NOT = "outcome.review.not_commercially_reasonable"


@dataclass(frozen=True, slots=True)
class Draft:
    """The first content of a notice.

    Attributes:
        content: the twelve content fields, as the contract names them.
        withheld: the paths of the values that it withholds.
        phrases: the phrases that it uses.
        redaction: as `redaction_of` returns it for the record.
    """

    content: dict[str, Any]
    withheld: tuple[str, ...]
    phrases: tuple[Phrase, ...]
    redaction: Redaction


def draft(
    facts: Facts,
    pack: Pack,
    language: str,
    phrasebook: Phrasebook,
    placeholders: Mapping[str, str],
    *,
    received_at: datetime | None = None,
) -> Draft:
    """Return what a notice says about a record.

    Args:
        placeholders: the organization's names and addresses for the pack's texts. The record's come first. A
            placeholder without a value stays in braces, where the checklist finds it.
        received_at: when the service received the record, or None.

    Raises:
        TooMuch: the record says more than a notice holds.
    """
    text, facts = pack.text(language), facts.in_language(language)
    phrases = FieldPhrases(phrasebook, pack.bases)
    sentences = Sentences(catalog(language, pack.locales.get(language, "")), phrases, facts.get)
    selection = Selection(facts, pack, sentences.has_words)
    sections, withheld = statements(facts, selection, sentences, phrases)
    redaction = redaction_by(selection, facts, phrases)
    values = pack.values(facts.get, placeholders)
    day = decided_on(facts, received_at or datetime.now(UTC))
    has_rights = pack.scope.gives_rights(day)
    review = review_available(facts, pack, day)
    rights = [*text.rights, *(pack.locked_texts(language, facts.get) if has_rights else ())]

    def filled(template: str) -> str:
        return fill(template, values)

    content = {
        "title": filled(pack.title_for(language, facts.get)),
        **sections,
        "how_to_request_inputs": filled(text.how_to_request_inputs) if has_rights else "",
        "rights": [filled(right) for right in [*rights, *([text.withheld] if redaction.leaves_out else [])]],
        "human_review_available": review is True,
        "how_to_request_review": {
            True: how_to_request(facts, phrases, text.how_to_request_review, values),
            False: filled(text.no_review),
            None: "",
        }[review],
        "deadline_note": filled(text.deadline_note) if has_rights else "",
        "framework": pack.framework_for(language, facts.get, day),
        "language": language,
    }
    return Draft(content, withheld, tuple(phrases.used.values()), redaction)


def language_of(facts: Facts, pack: Pack, *wishes: object) -> str:
    """Return the language of a first draft: the pack's for the first wish that it can meet, else for the person's
    language in the record, else the pack's first. A wish that is not a text is ignored."""
    wishes = (*wishes, facts.get("subject.language"))
    return pack.language_for(*[wish for wish in wishes if isinstance(wish, str)])


def readers_language(facts: Facts, recipient: Mapping[str, Any]) -> str:
    """Return the language that the person reads, as the recipient or the record says, or ""."""
    wishes = (recipient.get("language"), facts.get("subject.language"))
    return next((wish for wish in wishes if isinstance(wish, str) and wish.strip()), "")


def review_available(facts: Facts, pack: Pack, day: date) -> bool | None:
    """Whether a person reviews a decision of that day on request, or None if neither law nor record says so."""
    why_not = facts.get(_WHY_NOT)
    if why_not and flags.is_readable(_WHY_NOT, why_not):
        return False
    if pack.scope.gives_rights(day) and any(
        element.check == "is_true" and element.applies_to(facts.get) for element in pack.elements
    ):
        return True
    available = facts.get("outcome.review.available")
    return available if isinstance(available, bool) else None
