import time
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


_RECENT_SECONDS = 1.0
_MOST_RECENT_KEYS = 10_000
_recent_keys: dict[str, tuple[float, StoredKey]] = {}

_KEY_SQL = f"SELECT {', '.join(StoredKey._fields)} FROM accounts_apikey WHERE key_id = %s"  # noqa: S608 - constants
_KEY_COLUMNS = [next(f for f in ApiKey._meta.concrete_fields if f.column == name) for name in StoredKey._fields]


def api_key(key_id: str) -> StoredKey | None:
    """The key of this public id, as it was within the last second.

    Runs for every request: a key that is in use is asked for once a second, by a prepared statement. So another
    process notices a revocation a second later at most; unknown ids are never remembered.
    """
    now = time.monotonic()
    remembered = _recent_keys.get(key_id)
    if remembered and remembered[0] > now:
        return remembered[1]
    found = next((StoredKey(*row) for row in db.fetch_all(_KEY_SQL, [key_id], _KEY_COLUMNS)), None)
    if found:
        if len(_recent_keys) >= _MOST_RECENT_KEYS:
            _recent_keys.clear()
        _recent_keys[key_id] = (now + _RECENT_SECONDS, found)
    return found


def forget_key(key_id: str) -> None:
    """Make this process notice at once what changed about a key."""
    _recent_keys.pop(key_id, None)


def current_member(request: HttpRequest) -> Member | None:
    """The membership a signed-in person acts under: the organization their session names, else their first."""
    if not isinstance(request.user, User):
        return None
    memberships = Member.objects.filter(user=request.user).select_related("organization", "user").order_by("pk")
    chosen = request.session.get(SESSION_ORGANIZATION)
    return (memberships.filter(organization_id=chosen).first() if chosen else None) or memberships.first()


def caller(member: Member) -> Caller:
    who = Actor("member", str(member.user_id), member.user.email)
    return Caller(member.organization_id, Role(member.role), who, member.pk)


def actor(request: HttpRequest) -> Actor:
    """Who is signed in, as the audit trail names them."""
    return Actor("member", str(request.user.pk), str(request.user))


def organization(slug: str) -> Organization:
    """Raises Organization.DoesNotExist."""
    return Organization.objects.get(slug=slug)
