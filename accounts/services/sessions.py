"""Signed-in sessions: beginning, refreshing, listing and ending them."""

import uuid
from datetime import timedelta
from typing import cast

from django.conf import settings
from django.contrib.auth import SESSION_KEY, login, logout
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts import audit, selectors
from accounts.models import SignedInSession, User
from accounts.session_store import SessionStore
from config import client_ip, db

_SEEN_STEP = timedelta(minutes=1)


def begin(
    *,
    request: HttpRequest,
    user: User,
    organization_id: uuid.UUID | None = None,
    only: bool = False,
    confirmed: bool = False,
) -> None:
    """Sign a person in, under a new session id: an attacker may have planted the old one.

    Args:
        organization_id: the organization to act in. By default, the person's first.
        only: whether the session is bound to this organization.
        confirmed: whether they proved their second factor.
    """
    now = timezone.now()
    with transaction.atomic():
        before = _of(request)
        if before is not None:
            end(session=before, because="signed in again")
        login(request, user, backend="accounts.backends.MemberBackend")
        request.session.cycle_key()
        request.session[selectors.SESSION_ORGANIZATION] = organization_id and str(organization_id)
        request.session[selectors.SESSION_ONLY] = str(organization_id) if only else None
        request.session[selectors.SESSION_CONFIRMED] = confirmed
        SignedInSession.objects.create(
            user=user,
            session_key=str(request.session.session_key),
            client=client_ip.address(request),
            agent=request.headers.get("User-Agent", "")[:200],
            created_at=now,
            last_seen_at=now,
        )
        _audit("sign_in.succeeded", user)


def confirm(*, request: HttpRequest, organization_id: uuid.UUID | None = None) -> None:
    """Note that the person of this session signed in again, with their second factor. Open forms stay valid.

    Args:
        organization_id: the organization to act in. By default, it stays the same.
    """
    renew(request=request)
    request.session[selectors.SESSION_CONFIRMED] = True
    request.session[selectors.SESSION_ONLY] = None
    if organization_id:
        request.session[selectors.SESSION_ORGANIZATION] = str(organization_id)
    _audit("session.confirmed", SignedInSession.objects.get(session_key=request.session.session_key).user)


def renew(*, request: HttpRequest) -> None:
    """Give the session of this request a new id, signed in or not."""
    before = request.session.session_key or ""
    with transaction.atomic():
        request.session.cycle_key()
        SignedInSession.objects.filter(session_key=before).update(session_key=request.session.session_key)


def touch(*, request: HttpRequest) -> bool:
    """Note that this session was used. Return False, and end it, if it was revoked, idle too long or is too old."""
    now = timezone.now()
    session = cast(SessionStore, request.session).signed_in
    if session is None:
        return False
    if session.last_seen_at < now - settings.SESSION_IDLE or session.created_at < now - settings.SESSION_LONGEST:
        end(session=session, because="expired")
        return False
    if session.last_seen_at < now - _SEEN_STEP:
        SignedInSession.objects.filter(pk=session.pk).update(last_seen_at=now)
    return True


def sign_out(*, request: HttpRequest) -> None:
    """End the session of this request, if there is one."""
    session = _of(request)
    if session is not None:
        end(session=session, because="signed out")
    logout(request)


def end(*, session: SignedInSession, because: str) -> None:
    """End a session, also one of another browser."""
    with transaction.atomic():
        deleted, _ = SignedInSession.objects.filter(pk=session.pk).delete()
        SessionStore(session.session_key).delete()
        if deleted:
            _audit("session.ended", session.user, because=because)


def end_stale() -> None:
    """End the sessions that expired without a further request."""
    now = timezone.now()
    idle, too_old = Q(last_seen_at__lt=now - settings.SESSION_IDLE), Q(created_at__lt=now - settings.SESSION_LONGEST)
    for session in SignedInSession.objects.filter(idle | too_old).select_related("user"):
        end(session=session, because="expired")
    SessionStore.clear_expired()


def of_person(request: HttpRequest) -> QuerySet[SignedInSession]:
    """Return the sessions the signed-in person may see and end. A session bound to an organization sees only itself."""
    mine = SignedInSession.objects.filter(user=request.user.pk)
    if request.session.get(selectors.SESSION_ONLY):
        return mine.filter(session_key=request.session.session_key)
    return mine


def is_signed_in(request: HttpRequest) -> bool:
    return SESSION_KEY in request.session


def is_of(request: HttpRequest, user: User) -> bool:
    """Whether this person is signed in here."""
    return SignedInSession.objects.filter(user=user, session_key=request.session.session_key or "").exists()


def _of(request: HttpRequest) -> SignedInSession | None:
    return db.only(SignedInSession.objects.filter(session_key=request.session.session_key or ""))


def _audit(verb: str, user: User, **detail: str) -> None:
    """Append an event in each organization of the person or, without one, an event of the platform."""
    members = list(user.memberships.all())
    actor = audit.Actor("member", str(user.pk), user.email)
    for member in members:
        audit.record(
            verb,
            actor=actor,
            organization_id=member.organization_id,
            object_kind="member",
            object_id=member.pk,
            **detail,
        )
    if not members:
        audit.record(verb, actor=actor, organization_id=None, object_kind="user", object_id=user.pk, **detail)
