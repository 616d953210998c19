"""What a notice about a record would say, found from record, pack and phrasebook alone: nothing is stored anywhere."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from config.visible_text import is_visible
from notices import checklist, drafting
from notices.checklist import Case
from notices.content_limits import require_room
from notices.letters import Letter
from notices.letters import recipient as recipients
from notices.packs import Pack
from notices.phrasebook import Phrasebook
from notices.record_paths import Facts


def _no_phrases(language: str) -> Phrasebook:
    return Phrasebook()


@dataclass(frozen=True, slots=True)
class Sender:
    """What an organization brings to its notices.

    Args:
        name: as printed.
        placeholders: the names and addresses of its settings.
        phrasebook: gives its own words in a language.
        signatory: who signs, as `Letter` has it.
    """

    name: str
    placeholders: Mapping[str, str]
    phrasebook: Callable[[str], Phrasebook] = _no_phrases
    signatory: Mapping[str, str] = field(default_factory=dict)

    @property
    def texts(self) -> dict[str, str]:
        """What the packs' texts are filled from. Until a contact is set, people are told to write to the
        organization."""
        given = {name: text for name, text in self.placeholders.items() if is_visible(text)}
        return {"organization": self.name, "contact": self.name, **given}


@dataclass(frozen=True, slots=True)
class Preview:
    """A notice that nobody drafted, as its checklist sees one: `content`, `cited` and `not_applicable` are those of a
    first revision."""

    case: Case
    content: Mapping[str, Any]
    cited: Mapping[str, str]
    letter: Letter
    not_applicable: Mapping[str, str] = field(default_factory=dict)

    @property
    def language(self) -> str:
        return str(self.content["language"])


def preview(
    facts: Facts,
    pack: Pack,
    sender: Sender,
    *,
    language: str = "",
    recipient: Mapping[str, Any] | None = None,
    now: datetime | None = None,
) -> Preview:
    """The first draft that a record would get, with what it is checked against and its letter.

    Args:
        language: the one wished for; without it the recipient's, or else the person's in the record.
        recipient: a free object, as a notice's.
        now: when the service would have received the record.

    Raises:
        TooMuch: the record says more than a notice holds.
    """
    now = now or datetime.now(UTC)
    recipient = recipients.with_reference(recipient or {}, facts.get("subject.reference"))
    language = drafting.language_of(facts, pack, language, recipient.get("language"))
    draft = drafting.draft(facts, pack, language, sender.phrasebook(language), sender.texts, received_at=now)
    content = draft.content
    require_room(content)
    return Preview(
        case=Case(
            facts=facts,
            pack=pack,
            received_at=now,
            reader_language=drafting.readers_language(facts, recipient),
            redaction=draft.redaction,
            delivered_at=None,
            requested_review=None,
            drafted=checklist.stated(content),
        ),
        content=content,
        cited=checklist.cited_values(facts, content),
        letter=Letter(
            organization=sender.name,
            sender=str(sender.placeholders.get("contact", "")),
            recipient=recipients.printed_fields(recipient),
            content=content,
            dated=now.date(),
            mark="draft",
            locale=pack.locales.get(language, ""),
            signatory=sender.signatory,
        ),
    )
