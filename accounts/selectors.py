import uuid
from collections.abc import Collection, Iterable
from datetime import datetime
from operator import itemgetter
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.http import HttpRequest

from accounts import roles
from accounts.audit import Actor
from accounts.callers import Caller
from accounts.models import ApiKey, Invite, Member, Organization, User
from accounts.roles import CONFIRMED, Permission, Role
from config import changes, db
from config.changes import Remembered
from config.errors import NotFound
from config.http.messages import ORGANIZATION

SESSION_ORGANIZATION = "organization"
SESSION_ONLY = "only_organization"
"""The only organization that a session reaches, if the session is bound to one."""
SESSION_CONFIRMED = "second_factor"


class UnknownSlug(NotFound):
    """No organization has this slug."""

    code = "unknown_slug"


class StoredKey(NamedTuple):
    """The columns of an `ApiKey` row that authentication needs."""

    key_id: str
    digest: str
    organization_id: uuid.UUID
    name: str
    role: str
    last_used_at: datetime | None
    expires_at: datetime | None
    revoked_at: datetime | None


_MAX_REMEMBERED_KEYS = 10_000
_keys: Remembered[str, StoredKey] = Remembered(_MAX_REMEMBERED_KEYS)

_KEY_SQL = f"SELECT {', '.join(StoredKey._fields)} FROM accounts_apikey WHERE key_id = %s"  # noqa: S608 - constants
_KEY_COLUMNS = [next(f for f in ApiKey._meta.concrete_fields if f.column == name) for name in StoredKey._fields]


_LINEAGE_SQL = """
WITH RECURSIVE line(id, key_id, making_key_id, maker) AS (
    SELECT id, key_id, making_key_id, maker FROM accounts_apikey WHERE key_id IN ({})
    UNION
    SELECT older.id, older.key_id, older.making_key_id, older.maker
    FROM line JOIN accounts_apikey AS older ON older.id = line.making_key_id
)
SELECT id, key_id, making_key_id, maker FROM line
"""  # UNION drops rows it has seen, so that a circle of keys ends
_LINEAGE_COLUMNS = [
    next(field for field in ApiKey._meta.concrete_fields if field.column == column)
    for column in ("id", "key_id", "making_key_id", "maker")
]


def api_key(key_id: str) -> StoredKey | None:
    """Return the key of this public id.

    Runs for every request, so the row of a key in use stays in memory. Another process still notices a revocation
    within a second (see `config.changes`). Unknown ids are never remembered.
    """
    mark = changes.mark()
    return _keys.get(key_id) or _read_key(key_id, mark)


def refreshed_key(key_id: str) -> StoredKey | None:
    """Return the key from the database, with its current `last_used_at`."""
    return _read_key(key_id, changes.mark())


def _read_key(key_id: str, mark: str) -> StoredKey | None:
    key = next((StoredKey(*row) for row in db.fetch_all(_KEY_SQL, [key_id], _KEY_COLUMNS)), None)
    if key:
        _keys.add(key_id, key, mark)
    return key


def remembered_key(key_id: str) -> StoredKey | None:
    """Return the key if this process remembers it, without a query."""
    return _keys.get(key_id)


def was_remembered(key_id: str) -> bool:
    """Whether this process has read the key before, so that another query is likely to find it."""
    return _keys.last(key_id) is not None


def forget_key(key_id: str) -> None:
    """Forget a key, so that this process notices its change at once."""
    _keys.pop(key_id)


def current_member(request: HttpRequest) -> Member | None:
    """Return the membership a signed-in person acts under: in the organization of their session, else their first.

    None for an operator of the platform who picked an organization they do not belong to. A page asks many times, so
    the request caches the answer.
    """
    if not isinstance(request.user, User):
        return None
    only = request.session.get(SESSION_ONLY)
    asked = request.user.pk, only or request.session.get(SESSION_ORGANIZATION), only
    known: dict[Any, Member | None] = request.__dict__.setdefault("_memberships", {})
    if asked not in known:
        member = known[asked] = _membership(request.user, *asked[1:])
        if member:
            request.META[ORGANIZATION] = str(member.organization_id)
    return known[asked]


def _membership(user: User, chosen: str | None, only: str | None) -> Member | None:
    memberships = user.loaded_memberships
    default = None if only or (chosen and user.is_superuser) else next(iter(memberships), None)
    return next((member for member in memberships if str(member.organization_id) == chosen), default)


def runs_the_platform(request: HttpRequest) -> bool:
    bound = request.session.get(SESSION_ONLY)
    return isinstance(request.user, User) and request.user.is_superuser and not bound


def current_organization(request: HttpRequest) -> Organization | None:
    """Return the organization whose rows the pages show: the member's, or the pick of an operator of the platform."""
    member = current_member(request)
    if member or not runs_the_platform(request):
        return member.organization if member else None
    chosen = request.session.get(SESSION_ORGANIZATION)
    return next((row for row in organizations(request) if str(row.pk) == chosen), None)


def organizations(request: HttpRequest) -> list[Organization]:
    """Return the organizations the signed-in person may switch between: their own, or all for a platform operator."""
    if not isinstance(request.user, User):
        return []
    known: list[Organization] | None = request.__dict__.get("_organizations")
    if known is None:
        if runs_the_platform(request):
            known = list(Organization.objects.order_by("name", "pk"))
        else:
            only = request.session.get(SESSION_ONLY)
            own = [member.organization for member in request.user.loaded_memberships]
            known = sorted((row for row in own if only in (None, str(row.pk))), key=lambda row: (row.name, row.pk))
        request.__dict__["_organizations"] = known
    return known


def members_who_may(organization_id: uuid.UUID, permission: Permission) -> QuerySet[Member]:
    """Return the active members with a permission, for example to mail them about what it covers. See `may`."""
    able = [role for role in Role if roles.allows(role, permission)]
    return Member.objects.for_organization(organization_id).filter(role__in=able, user__is_active=True)


def may(member: Member, permission: Permission) -> bool:
    """Whether a member's role has a permission, and they can sign in."""
    return roles.allows(Role(member.role), permission) and member.user.is_active


def caller(member: Member, *, has_second_factor: bool = False, asked: bool = False) -> Caller:
    """Return the caller for a member.

    Args:
        has_second_factor: whether their session proved it.
        asked: whether the organization asks the member for it.
    """
    who = Actor("member", str(member.user_id), member.user.email)
    owes = asked and not has_second_factor
    return Caller(member.organization_id, Role(member.role), who, member.pk, owes, has_second_factor)


def signed_in_caller(request: HttpRequest) -> Caller | None:
    """Return the caller for the signed-in person, under `current_member`."""
    member = current_member(request)
    if member is None:
        return None
    asked = member.organization.settled().second_factor_required and member.role in CONFIRMED
    return caller(member, has_second_factor=bool(request.session.get(SESSION_CONFIRMED)), asked=asked)


def first_steps_of(caller: Caller) -> Member | Organization:
    """Return the row with a caller's onboarding flags: the member behind the caller or, if none, the organization."""
    members = Member.objects.for_organization(caller.organization_id)
    member = db.only(members.filter(user__email=person_behind(caller.actor)))
    return member or Organization.objects.get(pk=caller.organization_id)


def person_behind(actor: Actor) -> str:
    """Return the email address of the member who acts, or whose key acts.

    A member's key counts as the member, not as a second person. "" for the command line and for keys made there.
    """
    if actor.kind == "key":
        keys = ApiKey.objects.unscoped("an actor is known by the key's id, which is unique")
        return keys.values_list("maker", flat=True).get(key_id=actor.id)
    return actor.label if actor.kind == "member" else ""


def root_of(actor: Actor) -> str:
    """Return the root that all keys of one lineage share. See `roots_of`."""
    return roots_of([actor])[actor]


def roots_of(actors: Iterable[Actor]) -> dict[Actor, str]:
    """Return the root of each actor's lineage, in one query. Two actors with the same root count as one.

    The root is the email address of the person who acts, or whose key acts. For a key that traces back to the command
    line, the root is the id of the first key. The command line has the root "".
    """
    actors = set(actors)
    keys = _key_roots({actor.id for actor in actors if actor.kind == "key"})
    return {
        actor: keys[actor.id] if actor.kind == "key" else actor.label if actor.kind == "member" else ""
        for actor in actors
    }


def givers_of(member: Member) -> set[str]:
    """Return the roots of all actors who invited a member or gave them their role."""
    invites = Invite.objects.for_organization(member.organization_id).filter(email=member.user.email)
    accepted = invites.exclude(accepted_at=None).values_list("maker", "making_key__key_id")
    givers = {(member.maker, member.making_key.key_id if member.making_key else None), *accepted}
    roots = _key_roots({key_id for _, key_id in givers if key_id})
    return {root for email, key_id in givers if (root := email or roots.get(key_id or "", ""))}


def _key_roots(key_ids: Collection[str]) -> dict[str, str]:
    """Return the root of each key. Reads each key of a lineage once, so at most the keys of the organization."""
    if not key_ids:
        return {}
    sql = _LINEAGE_SQL.format(", ".join(["%s"] * len(key_ids)))
    roots: dict[int, str] = {}
    by_key_id: dict[str, str] = {}
    # A key's number is higher than its maker's, so one pass in ascending order finds every maker first.
    rows = sorted(db.fetch_all(sql, list(key_ids), _LINEAGE_COLUMNS), key=itemgetter(0))
    for number, key_id, making_key, email in rows:
        by_key_id[key_id] = roots[number] = email or roots.get(making_key) or key_id
    return by_key_id


def actor(request: HttpRequest) -> Actor:
    """Return the signed-in person, as the audit trail names them."""
    return Actor("member", str(request.user.pk), str(request.user))


def organization(slug: str) -> Organization:
    """Return the organization with this slug. Raises UnknownSlug."""
    row = db.only(Organization.objects.filter(slug=slug))
    if row is None:
        raise UnknownSlug(f"There is no organization with the slug {slug}.")
    return row


def find_organization(slug: str | None) -> Organization:
    """Return the organization with this slug or, without a slug, the only one.

    Raises:
        UnknownSlug: no organization has this slug, or there is no single one.
    """
    if slug:
        return organization(slug)
    rows = list(Organization.objects.all()[:2])
    if len(rows) > 1:
        raise UnknownSlug("There are several organizations: name one with --organization SLUG.")
    if not rows:
        raise UnknownSlug("There is no organization yet.")
    return rows[0]
