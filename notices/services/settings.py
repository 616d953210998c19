"""What an organization's notices are made with, and how strictly they are approved."""

from collections.abc import Mapping

from django.db import transaction

from accounts import audit
from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from notices.models import NoticeSettings


@requires(Permission.MANAGE_NOTICES)
def change_settings(
    *,
    caller: Caller,
    default_pack: str,
    placeholders: Mapping[str, str],
    require_grants: bool,
    at_risk_days: int,
    require_other_key: bool = False,
) -> NoticeSettings:
    """What later drafts are made with and later approvals need; notices that exist stay as they are."""
    with transaction.atomic():
        settings, _ = NoticeSettings.objects.update_or_create(
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
    return settings
