"""What an organization's notices are made with: its settings and its phrasebook."""

import uuid
from collections.abc import Mapping, Sequence

from django.db import transaction

from accounts import audit
from accounts import selectors as accounts
from accounts.audit import Actor
from accounts.callers import Caller
from notices.models import NoticeSettings, Phrase


def change_settings(
    *,
    default_pack: str,
    placeholders: Mapping[str, str],
    require_grants: bool,
    at_risk_days: int,
    caller: Caller,
    require_other_key: bool = False,
) -> NoticeSettings:
    """What later drafts are made with and later approvals need; notices that exist stay as they are."""
    with transaction.atomic():
        made, _ = NoticeSettings.objects.update_or_create(
            organization_id=caller.organization_id,
            defaults={
                "default_pack": default_pack,
                "placeholders": dict(placeholders),
                "require_grants": require_grants,
                "require_other_key": require_other_key,
                "at_risk_days": at_risk_days,
            },
        )
        audit.record(
            "notice_settings.changed",
            actor=caller.actor,
            organization_id=caller.organization_id,
            object_kind="organization",
            object_id=caller.organization_id,
            default_pack=default_pack,
            require_grants=require_grants,
            require_other_key=require_other_key,
        )
    return made


def put_phrases(*, organization_id: uuid.UUID, phrases: Sequence[Phrase], actor: Actor) -> int:
    """Add phrases to the organization's phrasebook, or replace those of the same key and language."""
    with transaction.atomic():
        rows = Phrase.objects.filter(organization_id=organization_id, language__in={each.language for each in phrases})
        before = {(row.language, row.key): row for row in rows}
        author = _author(actor)
        for phrase in phrases:
            phrase.organization_id = organization_id
            phrase.authors = _authors(phrase, before.get((phrase.language, phrase.key)), author)
        Phrase.objects.bulk_create(
            phrases,
            update_conflicts=True,
            unique_fields=["organization", "language", "key"],
            update_fields=["sentence", "label", "withheld", "owner", "approved_version", "authors"],
        )
        audit.record(
            "phrasebook.changed",
            actor=actor,
            organization_id=organization_id,
            object_kind="organization",
            object_id=organization_id,
            phrases=len(phrases),
        )
    return len(phrases)


def _author(actor: Actor) -> dict[str, str] | None:
    """Who writes, as `Phrase.authors` keeps them; nobody at the command line."""
    person = accounts.person_behind(actor)
    return {"kind": actor.kind, "id": actor.id, "mail": person} if person else None


def _authors(phrase: Phrase, before: Phrase | None, author: dict[str, str] | None) -> dict[str, dict[str, str]]:
    """Who wrote each part of a phrase: whoever changed it last. To save the same words again is not to write them."""
    found = {}
    for part in ("sentence", "label", "withheld"):
        same = before is not None and _words(getattr(before, part)) == _words(getattr(phrase, part))
        who = before.authors.get(part) if before and same else author
        if getattr(phrase, part) and who:
            found[part] = who
    return found


def _words(told: str | bool) -> list[str]:
    """A text without its white space, which letters print as single spaces."""
    return str(told).split()


def remove_phrase(*, phrase: Phrase, caller: Caller) -> None:
    """Take a phrase out of the phrasebook. Notices that exist keep their words."""
    with transaction.atomic():
        Phrase.objects.filter(pk=phrase.pk).delete()
        audit.record(
            "phrasebook.changed",
            actor=caller.actor,
            organization_id=phrase.organization_id,
            object_kind="organization",
            object_id=phrase.organization_id,
            phrases=-1,
        )
