import uuid
from datetime import datetime
from typing import NamedTuple

from django.http import HttpRequest

from accounts.audit import Actor
from accounts.callers import Caller
from accounts.models import ApiKey, Member, Organization, User
from accounts.roles import Role
from config import db

SESSION_ORGANIZATION = "organization"


class StoredKey(NamedTuple):
    """What authentication needs of an `ApiKey` row."""

    key_id: str
    digest: str
    organization_id: uuid.UUID
    name: str
    role: str
    last_used_at: datetime | None
    expires_at: datetime | None
    revoked_at: datetime | None


_KEY_SQL = f"SELECT {', '.join(StoredKey._fields)} FROM accounts_apikey WHERE key_id = %s"  # noqa: S608 - constants
_KEY_COLUMNS = [next(f for f in ApiKey._meta.concrete_fields if f.column == name) for name in StoredKey._fields]


def api_key(key_id: str) -> StoredKey | None:
    """The key of this public id. Runs for every request, so it is a prepared statement and not a model query."""
    return next((StoredKey(*row) for row in db.fetch_all(_KEY_SQL, [key_id], _KEY_COLUMNS)), None)


def current_member(request: HttpRequest) -> Member | None:
    """The membership a signed-in person acts under: the organization their session names, else their first."""
    if not isinstance(request.user, User):
        return None
    memberships = Member.objects.filter(user=request.user).select_related("organization", "user").order_by("pk")
    chosen = request.session.get(SESSION_ORGANIZATION)
    return (memberships.filter(organization_id=chosen).first() if chosen else None) or memberships.first()


def caller(member: Member) -> Caller:
    actor = Actor("member", str(member.user_id), member.user.email)
    return Caller(member.organization_id, Role(member.role), actor, member.pk)


def organization(slug: str) -> Organization:
    """Raises Organization.DoesNotExist."""
    return Organization.objects.get(slug=slug)
