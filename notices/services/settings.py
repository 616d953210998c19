"""What an organization's notices are made with: its settings and its phrasebook."""

import uuid
from collections.abc import Mapping, Sequence

from django.db import transaction

from accounts import audit
from accounts.audit import Actor
from accounts.callers import Caller
from notices.models import NoticeSettings, Phrase


def change_settings(
    *, default_pack: str, placeholders: Mapping[str, str], require_grants: bool, at_risk_days: int, caller: Caller
) -> NoticeSettings:
    """What later drafts are made with and later approvals need; notices that exist stay as they are."""
    with transaction.atomic():
        made, _ = NoticeSettings.objects.update_or_create(
            organization_id=caller.organization_id,
            defaults={
                "default_pack": default_pack,
                "placeholders": dict(placeholders),
                "require_grants": require_grants,
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
        )
    return made


def put_phrases(*, organization_id: uuid.UUID, phrases: Sequence[Phrase], actor: Actor) -> int:
    """Add phrases to the organization's phrasebook, or replace those of the same key and language."""
    with transaction.atomic():
        for phrase in phrases:
            phrase.organization_id = organization_id
        Phrase.objects.bulk_create(
            phrases,
            update_conflicts=True,
            unique_fields=["organization", "language", "key"],
            update_fields=["sentence", "label", "withheld", "owner", "approved_version"],
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
