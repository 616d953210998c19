"""Notice settings of an organization, for drafting and approving."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction

from accounts import audit
from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from accounts.services import guards
from config.errors import Invalid
from config.visible_text import is_visible
from notices.models import NoticeSettings
from notices.sensitive import same_names

PAGE = "/admin/notices/noticesettings/"


@requires(Permission.MANAGE_NOTICES)
def change_settings(
    *,
    caller: Caller,
    default_pack: str | None = None,
    placeholders: Mapping[str, str] | None = None,
    at_risk_days: int | None = None,
    require_grants: bool | None = None,
    require_other_key: bool | None = None,
    require_acknowledged: bool | None = None,
    sensitive_fields: Iterable[str] | None = None,
    printable_fields: Iterable[str] | None = None,
    signatory: Mapping[str, str] | None = None,
) -> NoticeSettings:
    """Change the settings for later drafts and approvals. Existing notices do not change. None changes nothing.

    Args:
        default_pack, require_grants, require_other_key, require_acknowledged: guards of four eyes, which change as in
            `guards.change`.
        sensitive_fields: names of fields that letters withhold in addition to the default list.
        printable_fields: names of the default list that letters print anyway.
        signatory: `name`, `function` and `telephone` of the person who signs letters.

    Raises:
        Invalid: a field is on both lists.
        OwnersGuard
    """
    asked = {
        "require_grants": require_grants,
        "require_other_key": require_other_key,
        "require_acknowledged": require_acknowledged,
        "default_pack": default_pack,
    }
    plain = {
        "placeholders": None if placeholders is None else dict(placeholders),
        "at_risk_days": at_risk_days,
        "sensitive_fields": _unique(sensitive_fields),
        "printable_fields": _unique(printable_fields),
        "signatory": signatory and {key: text.strip() for key, text in signatory.items() if is_visible(text)},
    }
    with transaction.atomic():
        NoticeSettings.objects.get_or_create(organization_id=caller.organization_id)
        rows = NoticeSettings.objects.for_organization(caller.organization_id)
        settings = rows.select_for_update().get().settled()
        guards.change(caller=caller, row=settings, to=_given(asked), page=PAGE)
        for name, value in _given(plain).items():
            setattr(settings, name, value)
        if both := same_names(settings.sensitive_fields, settings.printable_fields):
            sentence = f"Letters cannot both withhold and print {both[0]}: take it off one of the lists."
            raise Invalid([{"loc": ["body", "printable_fields"], "msg": sentence, "type": "value_error"}])
        settings.save()
        audit.record(
            "notice_settings.changed",
            actor=caller.actor,
            organization_id=caller.organization_id,
            object_kind="organization",
            object_id=caller.organization_id,
            **{guard: getattr(settings, guard) for guard in asked},
            sensitive_fields=settings.sensitive_fields,
            printable_fields=settings.printable_fields,
        )
    return settings


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _unique(names: Iterable[str] | None) -> list[str] | None:
    return None if names is None else list(dict.fromkeys(name.strip() for name in names if name.strip()))
