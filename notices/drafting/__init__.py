"""Drafting: the same record, pack, language and phrasebook always give the same content, and no model is asked.

A statement is one sentence with one source that resolves in the record. What the record does not say is not said.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final

from notices.content_limits import Statement
from notices.deadlines import decided_on
from notices.drafting.how_to_request import how_to_request
from notices.drafting.measures import Measures
from notices.drafting.phrases import FieldPhrases, Withholding
from notices.drafting.redaction import Redaction, redaction_of
from notices.drafting.selection import Selection
from notices.drafting.statements import statements
from notices.drafting.writer import StatementWriter
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
"""What tells of rights: a decision from before they were there has none of it from its pack."""
_WHY_NOT = "outcome.review.not_commercially_reasonable"


@dataclass(frozen=True, slots=True)
class Draft:
    content: dict[str, Any]
    """The twelve content fields of a notice, as the contract names them."""
    withheld: tuple[str, ...]
    """The paths of what was kept out."""
    phrases: tuple[Phrase, ...]
    """Those that had a part in it."""
    redaction: Redaction
    """As `redaction_of` the record finds it."""


def draft(
    facts: Facts,
    pack: Pack,
    language: str,
    phrasebook: Phrasebook,
    placeholders: Mapping[str, str],
    *,
    received_at: datetime | None = None,
) -> Draft:
    """What a notice says about a record.

    Args:
        placeholders: the organization's names and addresses, for the pack's texts; what the record says comes first.
            One that is missing stays in braces, where the checklist finds it.
        received_at: when the service received the record; None while it has not.

    Raises:
        TooMuch: the record says more than a notice holds.
    """
    text, facts = pack.text(language), facts.in_language(language)
    phrases = FieldPhrases(phrasebook, pack.bases)
    measures = Measures()
    writer = StatementWriter(facts, catalog(language, pack.locales.get(language, "")), phrases, measures)
    selection = Selection(facts, pack, phrases, measures)
    sections, withheld = statements(selection, writer)
    sections = facts.declared(sections)
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
        "rights": [filled(right) for right in [*rights, *([text.withheld] if withheld else [])]],
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
    return Draft(content, withheld, tuple(phrases.used.values()), Redaction(bool(withheld), phrases, selection))


def language_of(facts: Facts, pack: Pack, *wishes: object) -> str:
    """The language a first draft is written in: the pack's that fits the first wish it can, else the person's in the
    record, or else the pack's first. What is no text is no wish."""
    known = [*wishes, facts.get("subject.language")]
    return pack.language_for(*[each for each in known if isinstance(each, str)])


def readers_language(facts: Facts, recipient: Mapping[str, Any]) -> str:
    """The language that the person reads, "" where neither the recipient nor the record says so."""
    wishes = (recipient.get("language"), facts.get("subject.language"))
    return next((wish for wish in wishes if isinstance(wish, str) and wish.strip()), "")


def review_available(facts: Facts, pack: Pack, day: date) -> bool | None:
    """Whether a person reviews a decision of that day if asked to; None where neither law nor record says so."""
    why_not = facts.get(_WHY_NOT)
    if why_not and flags.is_readable(_WHY_NOT, why_not):
        return False
    if pack.scope.gives_rights(day) and any(
        element.check == "is_true" and element.applies_to(facts.get) for element in pack.elements
    ):
        return True
    available = facts.get("outcome.review.available")
    return available if isinstance(available, bool) else None
