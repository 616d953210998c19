"""What an organization's notices are made with, and how strictly they are approved."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction

from accounts import audit
from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config.errors import Invalid
from config.visible_text import is_visible
from notices.models import NoticeSettings
from notices.sensitive import same_names


@requires(Permission.MANAGE_NOTICES)
def change_settings(
    *,
    caller: Caller,
    default_pack: str,
    placeholders: Mapping[str, str],
    require_grants: bool,
    at_risk_days: int,
    require_other_key: bool = False,
    require_acknowledged: bool = False,
    sensitive_fields: Iterable[str] | None = None,
    printable_fields: Iterable[str] | None = None,
    signatory: Mapping[str, str] | None = None,
) -> NoticeSettings:
    """What later drafts are made with and later approvals need; notices that exist stay as they are.

    Args:
        sensitive_fields: names of fields that letters withhold beside those of the default list; None leaves them.
        printable_fields: names that letters print although the default list has them; None leaves them.
        signatory: `name`, `function` and `telephone` of who signs letters; None leaves it.

    Raises:
        Invalid: a field is on both lists.
    """
    lists = {"sensitive_fields": sensitive_fields, "printable_fields": printable_fields}
    given: dict[str, Any] = {key: _unique(names) for key, names in lists.items() if names is not None}
    if signatory is not None:
        given["signatory"] = {key: value.strip() for key, value in signatory.items() if is_visible(value)}
    with transaction.atomic():
        settings, _ = NoticeSettings.objects.update_or_create(
            organization_id=caller.organization_id,
            defaults={
                "default_pack": default_pack,
                "placeholders": dict(placeholders),
                "require_grants": require_grants,
                "require_other_key": require_other_key,
                "require_acknowledged": require_acknowledged,
                "at_risk_days": at_risk_days,
                **given,
            },
        )
        if both := same_names(settings.sensitive_fields, settings.printable_fields):
            sentence = f"Letters cannot both withhold and print {both[0]}: take it off one of the lists."
            raise Invalid([{"loc": ["body", "printable_fields"], "msg": sentence, "type": "value_error"}])
        audit.record(
            "notice_settings.changed",
            actor=caller.actor,
            organization_id=caller.organization_id,
            object_kind="organization",
            object_id=caller.organization_id,
            default_pack=default_pack,
            require_grants=require_grants,
            require_other_key=require_other_key,
            require_acknowledged=require_acknowledged,
            sensitive_fields=settings.sensitive_fields,
            printable_fields=settings.printable_fields,
        )
    return settings


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in names if name.strip()))
