"""API keys: the credentials of machines."""

import secrets
import uuid
from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts import audit, roles, selectors, token_hashing
from accounts.authority import requires
from accounts.callers import Caller
from accounts.models import MAX_KEY_NAME, ApiKey, Member
from accounts.roles import Permission, Role
from config import db
from config.errors import DomainError, NotAllowed

TOKEN_PREFIX = "drs"  # noqa: S105 - the public start of every key, which secret scanners look for
PURPOSE = "accounts.ApiKey"


class NameTooLong(DomainError):
    """The name is no label any more."""

    code = "name_too_long"
    sentence = f"The name of a key has at most {MAX_KEY_NAME} characters."


class RoleTooHigh(NotAllowed):
    """Nobody gives a key more than they may do themselves."""

    code = "role_too_high"
    sentence = "A key's role can allow nothing that yours does not. Leave the role out, or name a lower one."


class MayNoLonger(NotAllowed):
    """The member lost their role, or the key was revoked, while they made a key with it."""

    code = "may_no_longer"
    sentence = "You have just lost this role, or this key was just revoked. No key was made."


@requires(Permission.MANAGE_KEYS)
def create_api_key(*, caller: Caller, name: str, role: Role, expires_at: datetime | None = None) -> tuple[ApiKey, str]:
    """A new key of the caller's organization and its token, which exists nowhere else after this answer.

    Args:
        role: the caller's, or one that allows nothing more.

    Raises:
        NameTooLong, RoleTooHigh, MayNoLonger
    """
    if len(name) > MAX_KEY_NAME:
        raise NameTooLong
    if not roles.may_give(caller.role, role):
        raise RoleTooHigh
    key_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    with transaction.atomic():
        maker = _maker(caller)
        key = ApiKey.objects.create(
            organization_id=caller.organization_id,
            key_id=key_id,
            digest=token_hashing.digest(PURPOSE, secret),
            name=name,
            role=role,
            created_by=str(caller.actor),
            maker=maker,
            expires_at=expires_at,
        )
        audit.record(
            "key.created",
            actor=caller.actor,
            organization_id=caller.organization_id,
            object_kind="key",
            object_id=key_id,
            role=role,
        )
    return key, f"{TOKEN_PREFIX}_{key_id}_{secret}"


def _maker(caller: Caller) -> str:
    """Whose key a new one is: of the person behind the caller.

    Looked up after whatever is under way with the person's keys, so that somebody who is being removed leaves none.
    """
    actor = caller.actor
    maker = selectors.person_behind(actor)
    _lock(caller.organization_id, maker)
    if actor.kind == "key":
        keys = ApiKey.objects.for_organization(caller.organization_id)
        still_may = keys.filter(key_id=actor.id, revoked_at=None).exists()
    elif actor.kind == "member":
        members = Member.objects.for_organization(caller.organization_id)
        still_may = members.filter(user_id=actor.id, role=caller.role).exists()
    else:
        still_may = True
    if not still_may:
        raise MayNoLonger
    return maker


def _lock(organization_id: uuid.UUID, maker: str) -> None:
    db.lock(f"keys of {maker} in {organization_id}")


def working_keys(member: Member) -> list[ApiKey]:
    """The keys a member made that are neither revoked nor expired, and those that these made, newest first."""
    keys = ApiKey.objects.for_organization(member.organization_id).filter(maker=member.user.email, revoked_at=None)
    return list(keys.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now())).order_by("-created_at", "-pk"))


@requires(Permission.MANAGE_KEYS)
def revoke_keys_of(*, caller: Caller, member: Member) -> list[ApiKey]:
    """Revoke what `working_keys` lists, within the transaction of whatever the member loses. Returns them."""
    _lock(member.organization_id, member.user.email)
    return [revoke_api_key(caller=caller, key=key) for key in working_keys(member)]


@requires(Permission.MANAGE_KEYS)
def revoke_api_key(*, caller: Caller, key: ApiKey) -> ApiKey:
    """Stop a key from working: here at once, in other processes within a second. Revoking again changes nothing."""
    with transaction.atomic():
        now = timezone.now()
        keys = ApiKey.objects.for_organization(caller.organization_id).filter(pk=key.pk, revoked_at=None)
        if keys.update(revoked_at=now):
            transaction.on_commit(lambda: selectors.forget_key(key.key_id))
            key.revoked_at = now
            audit.record(
                "key.revoked",
                actor=caller.actor,
                organization_id=caller.organization_id,
                object_kind="key",
                object_id=key.key_id,
            )
    return key
