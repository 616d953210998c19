"""Every change to organizations, members and API keys."""

import hmac
import secrets
import uuid
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from accounts import audit
from accounts.audit import Actor
from accounts.models import ApiKey, Member, Organization, User
from accounts.roles import Role

TOKEN_PREFIX = "drs"  # noqa: S105 - the public start of every key, which secret scanners look for


class SlugTaken(Exception):
    """Another organization has this slug."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is asking, in which organization, with which role: what a service needs to know of a request."""

    organization_id: uuid.UUID
    role: Role
    actor: Actor


def create_organization(*, name: str, owner_email: str, slug: str = "", actor: Actor) -> Organization:
    """An organization with its first member, the owner.

    Raises:
        SlugTaken: the slug, given or made from the name, is in use.
    """
    with transaction.atomic():
        try:
            with transaction.atomic():
                organization = Organization.objects.create(name=name, slug=slug or slugify(name)[:50])
        except IntegrityError:
            raise SlugTaken(slug or slugify(name)[:50]) from None
        audit.record(
            "organization.created",
            actor=actor,
            organization_id=organization.id,
            object_kind="organization",
            object_id=organization.id,
        )
        add_member(organization=organization, email=owner_email, role=Role.OWNER, actor=actor)
    return organization


def add_member(*, organization: Organization, email: str, role: Role, actor: Actor) -> Member:
    """Give a person a role; someone who is a member already keeps theirs."""
    with transaction.atomic():
        user, _ = User.objects.get_or_create(email=email.lower(), defaults={"password": make_password(None)})
        member, added = Member.objects.get_or_create(organization=organization, user=user, defaults={"role": role})
        if added:
            audit.record(
                "member.added",
                actor=actor,
                organization_id=organization.id,
                object_kind="member",
                object_id=member.pk,
                role=role,
            )
    return member


def create_api_key(
    *, organization_id: uuid.UUID, name: str, role: Role, actor: Actor, expires_at: datetime | None = None
) -> tuple[ApiKey, str]:
    """A new key and its token, which exists nowhere else after this answer."""
    key_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    with transaction.atomic():
        key = ApiKey.objects.create(
            organization_id=organization_id,
            key_id=key_id,
            digest=_digest(secret, settings.SECRET_KEY),
            name=name,
            role=role,
            created_by=str(actor),
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
    """Stop a key from working at once. Revoking again changes nothing."""
    with transaction.atomic():
        now = timezone.now()
        if ApiKey.objects.filter(pk=key.pk, revoked_at=None).update(revoked_at=now):
            key.revoked_at = now
            audit.record(
                "key.revoked",
                actor=actor,
                organization_id=key.organization_id,
                object_kind="key",
                object_id=key.key_id,
            )
    return key


def secret_matches(secret: str, digest: str) -> bool:
    """Compare in constant time, under the current and, while a rotation lasts, the earlier SECRET_KEYs."""
    peppers = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    matches = [hmac.compare_digest(_digest(secret, pepper), digest) for pepper in peppers]
    return any(matches)


def _digest(secret: str, secret_key: str) -> str:
    return hmac.digest(_pepper(secret_key), secret.encode(), "sha256").hex()


@cache
def _pepper(secret_key: str) -> bytes:
    """A key for this purpose alone, so that no other use of SECRET_KEY can make a valid digest."""
    return hmac.digest(secret_key.encode(), b"accounts.ApiKey", "sha256")
