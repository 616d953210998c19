"""API keys: the credentials of machines."""

import secrets
import uuid
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from accounts import audit, digests, selectors
from accounts.audit import Actor
from accounts.models import MAX_KEY_NAME, ApiKey
from accounts.roles import Role
from accounts.services.refusals import Refused

TOKEN_PREFIX = "drs"  # noqa: S105 - the public start of every key, which secret scanners look for
PURPOSE = "accounts.ApiKey"


class NameTooLong(Refused):
    """The name is no label any more."""

    sentence = f"The name of a key has at most {MAX_KEY_NAME} characters."


def create_api_key(
    *, organization_id: uuid.UUID, name: str, role: Role, actor: Actor, expires_at: datetime | None = None
) -> tuple[ApiKey, str]:
    """A new key and its token, which exists nowhere else after this answer. Raises NameTooLong."""
    if len(name) > MAX_KEY_NAME:
        raise NameTooLong
    key_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    with transaction.atomic():
        key = ApiKey.objects.create(
            organization_id=organization_id,
            key_id=key_id,
            digest=digests.digest(PURPOSE, secret),
            name=name,
            role=role,
            created_by=str(actor),
            maker=selectors.person_behind(actor),
            expires_at=expires_at,
        )
        audit.record(
            "key.created",
            actor=actor,
            organization_id=organization_id,
            object_kind="key",
            object_id=key_id,
            role=role,
        )
    return key, f"{TOKEN_PREFIX}_{key_id}_{secret}"


def revoke_api_key(*, key: ApiKey, actor: Actor) -> ApiKey:
    """Stop a key from working: here at once, in other processes within a second. Revoking again changes nothing."""
    with transaction.atomic():
        now = timezone.now()
        if ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=now):
            transaction.on_commit(lambda: selectors.forget_key(key.key_id))
            key.revoked_at = now
            audit.record(
                "key.revoked",
                actor=actor,
                organization_id=key.organization_id,
                object_kind="key",
                object_id=key.key_id,
            )
    return key
