"""API keys: the credentials of machines."""

import secrets
import uuid
from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts import audit, selectors, token_hashing
from accounts.audit import Actor
from accounts.models import MAX_KEY_NAME, ApiKey, Member
from accounts.roles import Role
from accounts.services.refusals import Refused
from config import db

TOKEN_PREFIX = "drs"  # noqa: S105 - the public start of every key, which secret scanners look for
PURPOSE = "accounts.ApiKey"


class NameTooLong(Refused):
    """The name is no label any more."""

    sentence = f"The name of a key has at most {MAX_KEY_NAME} characters."


class MayNoLonger(Refused):
    """The member lost their role, or the key was revoked, while they made a key with it."""

    status = 403
    sentence = "You have just lost this role, or this key was just revoked. No key was made."


def create_api_key(
    *, organization_id: uuid.UUID, name: str, role: Role, actor: Actor, expires_at: datetime | None = None
) -> tuple[ApiKey, str]:
    """A new key and its token, which exists nowhere else after this answer. Raises NameTooLong, MayNoLonger."""
    if len(name) > MAX_KEY_NAME:
        raise NameTooLong
    key_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    with transaction.atomic():
        maker = _maker(organization_id, actor, role)
        key = ApiKey.objects.create(
            organization_id=organization_id,
            key_id=key_id,
            digest=token_hashing.digest(PURPOSE, secret),
            name=name,
            role=role,
            created_by=str(actor),
            maker=maker,
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


def _maker(organization_id: uuid.UUID, actor: Actor, role: Role) -> str:
    """Whose key a new one is: what a member's key makes is theirs too, or it would pass for a second person.

    Looked up after whatever is under way with the person's keys, so that somebody who is being removed leaves none.
    """
    maker = selectors.person_behind(actor)
    _lock(organization_id, maker)
    if actor.kind == "key":
        still_may = ApiKey.objects.filter(key_id=actor.id, revoked_at=None).exists()
    elif actor.kind == "member":
        still_may = Member.objects.filter(organization_id=organization_id, user_id=actor.id, role=role).exists()
    else:
        still_may = True
    if not still_may:
        raise MayNoLonger
    return maker


def _lock(organization_id: uuid.UUID, maker: str) -> None:
    db.lock(f"keys of {maker} in {organization_id}")


def working_keys(member: Member) -> list[ApiKey]:
    """The keys a member made that are neither revoked nor expired, and those that these made, newest first."""
    keys = ApiKey.objects.filter(organization_id=member.organization_id, maker=member.user.email, revoked_at=None)
    return list(keys.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now())).order_by("-created_at", "-pk"))


def revoke_keys_of(*, member: Member, actor: Actor) -> list[ApiKey]:
    """Revoke what `working_keys` lists, within the transaction of whatever the member loses. Returns them."""
    _lock(member.organization_id, member.user.email)
    return [revoke_api_key(key=key, actor=actor) for key in working_keys(member)]


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
