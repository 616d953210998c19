"""Signing in and out, and who one is."""

from django.http import Http404, HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotAuthenticated
from rest_framework.request import Request

from accounts import roles
from accounts.authentication import MemberSessionAuthentication, caller_of
from accounts.browsers import browser_of, remember
from accounts.models import Organization, SignedInSession, User
from accounts.schemas import (
    ListPage,
    Me,
    OtpRequestIn,
    OtpVerifyIn,
    Requested,
    SecondFactorIn,
    SessionList,
    SessionOut,
    SignedIn,
)
from accounts.services import codes, second_factor, sessions, sign_in
from config import client_ip
from config.api import openapi
from config.api.errors import ApiError
from config.api.pagination import paginate
from config.api.responses import answer
from config.api.times import rfc3339
from config.api.views import ApiView


class _OpenView(ApiView):
    """For callers who are nobody yet."""

    authentication_classes = ()
    permission_classes = ()


class OtpRequestView(_OpenView):
    @extend_schema(
        operation_id="request_one_time_code",
        summary="Send a six-digit code. It works with the cookie of this answer.",
        tags=["auth"],
        request=OtpRequestIn,
        responses=openapi.answers({200: Requested}, errors=[413, 415, 429, 503]),
    )
    def post(self, request: Request) -> HttpResponse:
        body = self.body(OtpRequestIn)
        client, browser = client_ip.network(request._request), browser_of(request._request)
        try:
            codes.request_code(email=body.email, intent=body.intent, client=client, browser=browser)
        except codes.TooManyRequests as error:
            raise ApiError(
                429, "Too many codes were asked for. Wait, then ask again.", retry_after=error.retry_after
            ) from None
        message = "If this address has an account, a code is on its way to it."
        asked = answer({"status": "requested", "message": message})
        remember(asked, browser)
        return asked


class OtpVerifyView(_OpenView):
    @extend_schema(
        operation_id="verify_one_time_code",
        summary="Sign in with the code of the mail and the cookie of its request: the answer sets the session cookie.",
        tags=["extension"],
        request=OtpVerifyIn,
        responses=openapi.answers({200: SignedIn}, errors=[401, 413, 415, 503]),
    )
    def post(self, request: Request) -> HttpResponse:
        body = self.body(OtpVerifyIn)
        try:
            done = sign_in.by_code(request=request._request, email=body.email, code=body.code)
        except codes.CodeRefused:
            raise ApiError(401, "This code is not right, or not valid any more. Ask for a new one.") from None
        return answer({"status": "signed_in" if done else "second_factor_required"})


class SecondFactorView(_OpenView):
    @extend_schema(
        operation_id="confirm_second_factor",
        summary="Finish signing in with the code of an authenticator app.",
        tags=["extension"],
        request=SecondFactorIn,
        responses=openapi.answers({200: SignedIn}, errors=[401, 409, 413, 415, 503]),
    )
    def post(self, request: Request) -> HttpResponse:
        body = self.body(SecondFactorIn)
        http: HttpRequest = request._request
        try:
            if sign_in.secret_to_enrol(http):
                raise ApiError(409, "No app is enrolled yet. Sign in once at /sign-in/, where it is shown how.")
            sign_in.by_app(request=http, code=body.code)
        except codes.CodeRefused:
            raise ApiError(401, "Nobody is waiting to confirm here. Begin with a mailed code.") from None
        except second_factor.SecondFactorRefused:
            raise ApiError(401, "This code is not right, or was used already. Wait for the next one.") from None
        return answer({"status": "signed_in"})


class MeView(ApiView):
    permissions = {"GET": None}

    @extend_schema(
        operation_id="who_am_i",
        summary="Who the caller is, and what they may do.",
        tags=["extension"],
        responses=openapi.answers({200: Me}, errors=[401, 403]),
    )
    def get(self, request: Request) -> HttpResponse:
        caller = caller_of(request)
        organization = Organization.objects.get(pk=caller.organization_id)
        return answer(
            {
                "kind": caller.actor.kind,
                "label": caller.actor.label,
                "role": caller.role,
                "organization": {
                    "id": str(organization.pk),
                    "slug": organization.slug,
                    "name": organization.name,
                },
                "permissions": [each.name.lower() for each in roles.Permission if roles.allows(caller.role, each)],
                "csrf_token": get_token(request._request) if caller.member_id else None,
            }
        )


class _SessionOnlyView(ApiView):
    """For signed-in people: a key has no sessions."""

    authentication_classes = (MemberSessionAuthentication,)
    permissions = {"GET": None, "POST": None, "DELETE": None}


class SignOutView(_SessionOnlyView):
    @extend_schema(
        operation_id="sign_out",
        summary="End this session.",
        tags=["extension"],
        request=None,
        responses=openapi.answers({200: SignedIn}, errors=[401, 403]),
    )
    def post(self, request: Request) -> HttpResponse:
        sessions.sign_out(request=request._request)
        return answer({"status": "signed_out"})


class SessionListView(_SessionOnlyView):
    @extend_schema(
        operation_id="list_sessions",
        summary="Where the caller is signed in.",
        tags=["extension"],
        parameters=openapi.query(ListPage),
        responses=openapi.answers({200: SessionList}, errors=[401, 403]),
    )
    def get(self, request: Request) -> HttpResponse:
        mine = SignedInSession.objects.filter(user=_person(request))
        current = request._request.session.session_key
        page = self.query(ListPage)
        return answer(paginate(mine, page, moment="created_at", show=lambda row: _session(row, current)))


class SessionView(_SessionOnlyView):
    @extend_schema(
        operation_id="end_session",
        summary="End one of the caller's sessions.",
        tags=["extension"],
        responses=openapi.answers({200: SessionOut}, errors=[401, 403, 404]),
    )
    def delete(self, request: Request, session_id: int) -> HttpResponse:
        found = SignedInSession.objects.filter(user=_person(request), pk=session_id).first()
        if found is None:
            raise Http404("You have no session of this id.")
        shown = _session(found, request._request.session.session_key)
        sessions.end(session=found, because="revoked")
        return answer(shown)


def _person(request: Request) -> User:
    user = request.user
    if not isinstance(user, User):
        raise NotAuthenticated
    return user


def _session(row: SignedInSession, current: str | None) -> dict[str, object]:
    return {
        "session_id": str(row.pk),
        "client": row.client,
        "agent": row.agent,
        "created_at": rfc3339(row.created_at),
        "last_seen_at": rfc3339(row.last_seen_at),
        "current": row.session_key == current,
    }
