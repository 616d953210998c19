"""How a request says who it is: an API key, or the session of a signed-in member."""

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import AnonymousUser
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from accounts import audit, roles, selectors, throttling, token_hashing
from accounts.audit import Actor
from accounts.callers import SECOND_FACTOR_OWED, Caller
from accounts.models import ApiKey
from accounts.roles import MEMBER_ROLES, Permission, Role
from accounts.services.keys import PURPOSE, TOKEN_PREFIX

if TYPE_CHECKING:  # DRF's views import this module through its settings
    from config.api.resources import Resource

_TOKEN = re.compile(rf"{TOKEN_PREFIX}_([0-9a-f]{{16}})_([\w-]{{43}})", re.ASCII)
_LAST_USED_STEP = timedelta(minutes=1)
_REFUSED = "This API key is not valid here: check that it is complete, not revoked and not expired."


class ApiKeyAuthentication(BaseAuthentication):
    """`Authorization: Bearer drs_<id>_<secret>`. Sets `request.auth` to a `Caller`."""

    def authenticate(self, request: Request) -> tuple[Any, Caller] | None:
        scheme, _, token = request.META.get("HTTP_AUTHORIZATION", "").partition(" ")
        if not scheme:
            return None
        match = _TOKEN.fullmatch(token.strip())
        if scheme.lower() != "bearer" or match is None:
            throttling.count_refused_credentials(request._request)
            raise AuthenticationFailed("Send the API key as Authorization: Bearer drs_…")
        key_id, secret = match.groups()
        key = selectors.api_key(key_id)
        # The comparison is made for an unknown id too, so that the time taken does not tell which ids exist.
        genuine = token_hashing.matches(PURPOSE, secret, key.digest if key else token_hashing.ABSENT)
        if key is None or not genuine:
            throttling.count_refused_credentials(request._request)
            raise AuthenticationFailed(_REFUSED)
        actor = Actor("key", key.key_id, key.name[:300])
        now = timezone.now()
        if key.revoked_at or (key.expires_at and key.expires_at <= now):
            throttling.count_refused_credentials(request._request)
            audit.record(
                "key.refused",
                actor=actor,
                organization_id=key.organization_id,
                object_kind="key",
                object_id=key.key_id,
                because="revoked" if key.revoked_at else "expired",
            )
            raise AuthenticationFailed(_REFUSED)
        if key.last_used_at is None or key.last_used_at < now - _LAST_USED_STEP:
            keys = ApiKey.objects.for_organization(key.organization_id)
            keys.filter(key_id=key.key_id).update(last_used_at=now)
            selectors.forget_key(key.key_id)
        return AnonymousUser(), Caller(key.organization_id, Role(key.role), actor)

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


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
    """Who is asking. Views call it after authentication, so there always is somebody."""
    caller = request.auth
    if not isinstance(caller, Caller):
        raise NotAuthenticated
    return caller


class RolePermission(BasePermission):
    """Compares the caller's role with the permission that the operation names; who owes a second factor may look under
    it. Where none is named, every role will do that members have."""

    def has_permission(self, request: Request, view: "Resource") -> bool:  # type: ignore[override]
        method = str(request.method)
        if method.lower() not in view.http_method_names or not hasattr(view, method.lower()):
            return True  # the view is about to answer 405
        if not isinstance(request.auth, Caller):
            throttling.count_refused_credentials(request._request)
        caller = caller_of(request)
        needed = getattr(view, view.action).permission  # an operation that names none is an error, and no open door
        if needed is None:
            self.message = f"The role {caller.role} may {Permission.INGEST_RECORDS}, and nothing else."
            return caller.role in MEMBER_ROLES
        if not roles.allows(caller.role, needed):
            self.message = roles.refusal(caller.role, needed)
            return False
        self.message = SECOND_FACTOR_OWED
        return method in SAFE_METHODS or not caller.owes_second_factor
