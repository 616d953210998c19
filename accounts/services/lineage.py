"""Lineage: what a member or an API key made, which ends with them, and may do no more than they."""

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
    """The member lost their role, or the key ended, while they made something with it."""

    code = "may_no_longer"
    sentence = "You have just lost this role, or this key was just revoked. Nothing was made."


class OutlivesMaker(NotAllowed):
    """A key expires no later than the key that makes it."""

    code = "outlives_maker"


class Maker(NamedTuple):
    """The person behind a caller, "" for the command line, and the key the caller is."""

    email: str
    key: ApiKey | None

    @property
    def expires_at(self) -> datetime | None:
        return self.key.expires_at if self.key else None


class Made(NamedTuple):
    """Working keys and open invitations, also those made by keys on the way, and members whose role was given so.

    The members joined by such an invitation, or were promoted. They sign in by themselves, so they stay until an owner
    removes them.
    """

    keys: list[ApiKey]
    invites: list[Invite]
    members: list[Member]


def maker(caller: Caller) -> Maker:
    """Return who makes a key or an invitation, and lock what they make until the transaction ends.

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
    """Return when a key expires that is asked to at a time, or to inherit its maker's. Raises OutlivesMaker."""
    limit = by.expires_at
    if asked and limit and asked > limit:
        raise OutlivesMaker(f"A key expires no later than the key that makes it, which expires at {rfc3339(limit)}.")
    return asked or limit


def lock(organization_id: uuid.UUID, email: str) -> None:
    """Make what a person and their keys make wait for a revocation, which then sees all that was made before."""
    db.lock(f"keys of {email} in {organization_id}")


def of_member(member: Member) -> Made:
    """Return what a member made, also by their keys."""
    return _made(member.organization_id, Q(maker=member.user.email))


def of_key(key: ApiKey) -> Made:
    """Return what a key made, also by the keys it made."""
    keys = ApiKey.objects.for_organization(key.organization_id)
    line = generation = {key.pk}
    while generation:
        generation = set(keys.filter(making_key__in=generation).values_list("pk", flat=True))
        line = line | generation
    return _made(key.organization_id, Q(making_key__in=line))


def end(*, caller: Caller, keys: Iterable[ApiKey] = (), invites: Iterable[Invite] = (), **detail: Any) -> None:
    """Revoke keys, here at once and in other processes within a second, and withdraw invitations.

    Args:
        detail: what the audit trail says of each, such as the key that ended before them.
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
