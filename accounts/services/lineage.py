"""Lineage: the keys and invitations of a member or API key. They end with their maker, and have no more permissions."""

import uuid
from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts import audit, selectors
from accounts.callers import Caller
from accounts.models import ApiKey, Invite, Member
from config import db
from config.errors import NotAllowed
from config.http.timestamps import rfc3339


class MayNoLonger(NotAllowed):
    """The member lost their role, or the key ended, during the request."""

    code = "may_no_longer"
    sentence = "You have just lost this role, or this key was just revoked. Nothing was made."


class OutlivesMaker(NotAllowed):
    """The key would expire later than the key that makes it."""

    code = "outlives_maker"


class Maker(NamedTuple):
    """The email address of the person behind a caller ("" for the command line), and the calling key."""

    email: str
    key: ApiKey | None

    @property
    def expires_at(self) -> datetime | None:
        return self.key.expires_at if self.key else None


class Made(NamedTuple):
    """Working keys and open invitations of a lineage, and the members it gave a role.

    The members joined by such an invitation, or were promoted. They have separate accounts, so they stay until an owner
    removes them.
    """

    keys: list[ApiKey]
    invites: list[Invite]
    members: list[Member]


def maker(caller: Caller) -> Maker:
    """Return the maker of a key or invitation, and lock their lineage until the transaction ends.

    Raises:
        MayNoLonger: they were removed or demoted, or the key ended, since the request began.
    """
    actor, key, may = caller.actor, None, True
    email = selectors.person_behind(actor)
    lock(caller.organization_id, email)
    if actor.kind == "key":
        key = db.only(_working(ApiKey.objects.for_organization(caller.organization_id)).filter(key_id=actor.id))
        may = key is not None
    elif actor.kind == "member":
        members = Member.objects.for_organization(caller.organization_id)
        may = members.filter(user_id=actor.id, role=caller.role).exists()
    if not may:
        raise MayNoLonger
    return Maker(email, key)


def expiry(by: Maker, asked: datetime | None) -> datetime | None:
    """Return the expiry of a new key: the requested one, or else its maker's. Raises OutlivesMaker."""
    limit = by.expires_at
    if asked and limit and asked > limit:
        raise OutlivesMaker(f"A key expires no later than the key that makes it, which expires at {rfc3339(limit)}.")
    return asked or limit


def lock(organization_id: uuid.UUID, email: str) -> None:
    """Lock the lineage of a person, so that a revocation sees all keys and invitations made before it."""
    db.lock(f"keys of {email} in {organization_id}")


def of_member(member: Member) -> Made:
    """Return the keys, invitations and members of a member's lineage."""
    return _made(member.organization_id, Q(maker=member.user.email))


def of_key(key: ApiKey) -> Made:
    """Return the keys, invitations and members of a key's lineage."""
    keys = ApiKey.objects.for_organization(key.organization_id)
    line = generation = {key.pk}
    while generation:
        generation = set(keys.filter(making_key__in=generation).values_list("pk", flat=True))
        line = line | generation
    return _made(key.organization_id, Q(making_key__in=line))


def end(*, caller: Caller, keys: Iterable[ApiKey] = (), invites: Iterable[Invite] = (), **detail: Any) -> None:
    """Revoke keys and withdraw invitations. Keys end here at once, and in other processes within a second.

    Args:
        detail: the detail of each audit event, such as the key that ended before them.
    """
    now = timezone.now()
    with transaction.atomic():
        for key in keys:
            rows = ApiKey.objects.for_organization(caller.organization_id).filter(pk=key.pk, revoked_at=None)
            if rows.update(revoked_at=now):
                key.revoked_at = now
                transaction.on_commit(partial(selectors.forget_key, key.key_id))
                _audit("key.revoked", caller, "key", key.key_id, detail)
        for invite in invites:
            offers = Invite.objects.for_organization(caller.organization_id)
            if offers.filter(pk=invite.pk, accepted_at=None, revoked_at=None).update(revoked_at=now):
                invite.revoked_at = now
                _audit("invite.revoked", caller, "invite", invite.pk, detail)


def member_detail(members: Iterable[Member]) -> dict[str, Any]:
    """Return the detail that names members in the audit trail, empty without members."""
    numbers = [member.pk for member in members]
    return {"members": numbers} if numbers else {}


def _made(organization_id: uuid.UUID, made: Q) -> Made:
    keys = _working(ApiKey.objects.for_organization(organization_id))
    invites = Invite.objects.for_organization(organization_id).filter(accepted_at=None, revoked_at=None)
    members = Member.objects.for_organization(organization_id).select_related("user")
    newest = ("-created_at", "-pk")
    return Made(
        list(keys.filter(made).order_by(*newest)),
        list(invites.filter(made, expires_at__gt=timezone.now()).order_by(*newest)),
        list(members.filter(made).order_by(*newest)),
    )


def _working(keys: QuerySet[ApiKey]) -> QuerySet[ApiKey]:
    return keys.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()), revoked_at=None)


def _audit(verb: str, caller: Caller, kind: str, object_id: object, detail: dict[str, Any]) -> None:
    audit.record(
        verb,
        actor=caller.actor,
        organization_id=caller.organization_id,
        object_kind=kind,
        object_id=object_id,
        **detail,
    )
