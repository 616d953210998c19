"""Authentication of requests: by an API key, or by the session of a signed-in member."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import parse_cookie
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from accounts import audit, roles, selectors, session_store, throttling, token_hashing
from accounts.audit import Actor
from accounts.callers import SECOND_FACTOR_OWED, Caller
from accounts.models import ApiKey, SignedInSession
from accounts.roles import MEMBER_ROLES, Permission, Role
from accounts.selectors import StoredKey
from accounts.services.keys import PURPOSE, TOKEN_PREFIX
from config.http.messages import ORGANIZATION

if TYPE_CHECKING:  # DRF's views import this module through its settings
    from config.http.resources import Resource

_HEADER = re.compile(rf"(?i:bearer) \s*{TOKEN_PREFIX}_(?P<id>[0-9a-f]{{16}})_(?P<secret>[\w-]{{43}})\s*", re.ASCII)
_LAST_USED_STEP = timedelta(minutes=1)
_REFUSED = "This API key is not valid here: check that it is complete, not revoked and not expired."


class ApiKeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer drs_<id>_<secret>`. Sets `request.auth` to a `Caller`."""

    def authenticate(self, request: Request) -> tuple[Any, Caller] | None:
        header = request.META.get("HTTP_AUTHORIZATION", "")
        if not header.partition(" ")[0]:
            return None
        match = _HEADER.fullmatch(header)
        if match is None:
            throttling.count_refused_credentials(request._request)
            raise AuthenticationFailed("Send the API key as Authorization: Bearer drs_…")
        key = _genuine(selectors.api_key(match["id"]), match["secret"])
        if key is None:
            throttling.count_refused_credentials(request._request)
            raise AuthenticationFailed(_REFUSED)
        now = timezone.now()
        if _has_ended(key, now):
            throttling.count_refused_credentials(request._request)
            audit.record(
                "key.refused",
                actor=_caller(key).actor,
                organization_id=key.organization_id,
                object_kind="key",
                object_id=key.key_id,
                because="revoked" if key.revoked_at else "expired",
            )
            raise AuthenticationFailed(_REFUSED)
        if _use_is_due(key, now):
            keys = ApiKey.objects.for_organization(key.organization_id)
            keys.filter(key_id=key.key_id).update(last_used_at=now)
            selectors.forget_key(key.key_id)
        request.META[ORGANIZATION] = str(key.organization_id)
        return AnonymousUser(), _caller(key)

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def key_id_of(header: str) -> str:
    """Return the public id of the key in an Authorization header, genuine or not, or ""."""
    match = _HEADER.fullmatch(header)
    return match["id"] if match else ""


def remembered_caller(header: str) -> Caller | None:
    """Return the caller of an Authorization header if this process knows them without any query.

    None means "unknown here": `ApiKeyAuthentication` then decides.
    """
    match, now = _HEADER.fullmatch(header), timezone.now()
    if match is None or not token_hashing.are_remembered():
        return None
    key = _genuine(selectors.remembered_key(match["id"]), match["secret"])
    return _caller(key) if key and not _has_ended(key, now) and not _use_is_due(key, now) else None


def sender(environ: Mapping[str, Any]) -> str:
    """Identify the sender of a request by its head: the organization of a working key, or a sign-in session, or "".

    Permissions and the session's age are checked later, when the request is answered.

    Args:
        environ: the head of the request, as WSGI has it.
    """
    match = _HEADER.fullmatch(environ.get("HTTP_AUTHORIZATION", ""))
    key = _genuine(selectors.api_key(match["id"]), match["secret"]) if match else None
    if key:
        return "" if _has_ended(key, timezone.now()) else str(key.organization_id)
    cookie = parse_cookie(environ.get("HTTP_COOKIE", "")).get(settings.SESSION_COOKIE_NAME, "")
    return (
        cookie if session_store.is_key(cookie) and SignedInSession.objects.filter(session_key=cookie).exists() else ""
    )


def _genuine(key: StoredKey | None, secret: str) -> StoredKey | None:
    # Compare for an unknown id, too: otherwise the time would show which ids exist.
    return key if token_hashing.matches(PURPOSE, secret, key.digest if key else token_hashing.ABSENT) else None


def _has_ended(key: StoredKey, now: datetime) -> bool:
    return bool(key.revoked_at or (key.expires_at and key.expires_at <= now))


def _use_is_due(key: StoredKey, now: datetime) -> bool:
    return key.last_used_at is None or key.last_used_at < now - _LAST_USED_STEP


def _caller(key: StoredKey) -> Caller:
    return Caller(key.organization_id, Role(key.role), Actor("key", key.key_id, key.name[:300]))


class MemberSessionAuthentication(SessionAuthentication):
    """The session cookie of a signed-in member, with CSRF. Sets `request.auth` to a `Caller`."""

    def authenticate(self, request: Request) -> tuple[Any, Caller] | None:
        user = getattr(request._request, "user", None)
        if user is None or not user.is_active:
            return None
        self.enforce_csrf(request._request)  # type: ignore[arg-type]
        caller = selectors.signed_in_caller(request._request)
        if caller is None:
            raise AuthenticationFailed("You are signed in, but a member of no organization.")
        return user, caller

    def authenticate_header(self, request: Request) -> str:
        return "Session"  # without one, DRF answers 403 where a view knows no keys


def caller_of(request: Request) -> Caller:
    """Return the caller of a request. Views call it after authentication."""
    caller = request.auth
    if not isinstance(caller, Caller):
        raise NotAuthenticated
    return caller


class RolePermission(BasePermission):
    """Compares the caller's role with the permission that the operation names.

    Without a named permission, any member's role is enough. A caller who owes a second factor may only read.
    """

    def has_permission(self, request: Request, view: "Resource") -> bool:  # type: ignore[override]
        method = str(request.method)
        if method.lower() not in view.http_method_names or not hasattr(view, method.lower()):
            return True  # the view is about to answer 405
        if not isinstance(request.auth, Caller):
            throttling.count_refused_credentials(request._request)
        caller = caller_of(request)
        needed = getattr(view, view.action).permission  # a view without the attribute fails, so it never is open to all
        if needed is None:
            self.message = f"The role {caller.role} may {Permission.INGEST_RECORDS}, and nothing else."
            return caller.role in MEMBER_ROLES
        if not roles.allows(caller.role, needed):
            self.message = roles.refusal(caller.role, needed)
            return False
        self.message = SECOND_FACTOR_OWED
        return method in SAFE_METHODS or not caller.owes_second_factor
