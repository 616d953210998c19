"""API keys: the credentials of machines."""

import secrets
from datetime import datetime

from django.db import transaction

from accounts import audit, roles, token_hashing
from accounts.authority import requires
from accounts.callers import Caller
from accounts.models import MAX_KEY_NAME, ApiKey
from accounts.roles import Permission, Role
from accounts.services import lineage
from accounts.services.lineage import Made
from config.errors import DomainError, NotAllowed

TOKEN_PREFIX = "drs"  # noqa: S105 - the public start of every key, which secret scanners look for
PURPOSE = "accounts.ApiKey"


class NameTooLong(DomainError):
    """The name is too long for a label."""

    code = "name_too_long"
    sentence = f"The name of a key has at most {MAX_KEY_NAME} characters."


class RoleTooHigh(NotAllowed):
    """The key's role has permissions that the caller's role lacks."""

    code = "role_too_high"
    sentence = "A key's role can allow nothing that yours does not. Leave the role out, or name a lower one."


@requires(Permission.MANAGE_KEYS)
def create_api_key(*, caller: Caller, name: str, role: Role, expires_at: datetime | None = None) -> tuple[ApiKey, str]:
    """Create a key of the caller's organization. Return it with its token, which is not stored.

    Args:
        role: the caller's role, or a role with fewer permissions.
        expires_at: no later than the calling key expires. By default, the calling key's expiry.

    Raises:
        NameTooLong, RoleTooHigh, MayNoLonger, OutlivesMaker
    """
    if len(name) > MAX_KEY_NAME:
        raise NameTooLong
    if not roles.may_give(caller.role, role):
        raise RoleTooHigh
    key_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    with transaction.atomic():
        maker = lineage.maker(caller)
        key = ApiKey.objects.create(
            organization_id=caller.organization_id,
            key_id=key_id,
            digest=token_hashing.digest(PURPOSE, secret),
            name=name,
            role=role,
            created_by=str(caller.actor),
            maker=maker.email,
            making_key=maker.key,
            expires_at=lineage.expiry(maker, expires_at),
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


@requires(Permission.MANAGE_KEYS)
def revoke_api_key(*, caller: Caller, key: ApiKey) -> Made:
    """Revoke a key and all it made, also by keys it made. A second revocation changes nothing.

    Returns:
        The keys and invitations that ended with it, and the members it gave a role. These stay.
    """
    with transaction.atomic():
        lineage.lock(caller.organization_id, key.maker)
        made = lineage.of_key(key)
        lineage.end(caller=caller, keys=made.keys, invites=made.invites, with_key=key.key_id)
        made = made._replace(members=lineage.of_key(key).members)  # an invitation may have been accepted meanwhile
        lineage.end(caller=caller, keys=[key], **lineage.member_detail(made.members))
    return made
