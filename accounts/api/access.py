"""Sign-in, sign-out, sessions, and the current caller."""

from typing import Any

from django.http import HttpResponse
from django.middleware.csrf import get_token
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
from accounts.services import codes, sessions, sign_in
from config import client_ip, db
from config.errors import NotFound
from config.http.cursors import paginate
from config.http.json_responses import answer
from config.http.resources import ANYBODY, Resource, operation
from config.http.timestamps import rfc3339


class SignIn(Resource):
    """The steps of signing in."""

    @operation(
        "request_one_time_code",
        "Send a six-digit code. It works with the cookie of this answer.",
        is_contract=True,
        permission=ANYBODY,
        body=OtpRequestIn,
        answers={200: Requested},
        errors=[429, 503],
    )
    def request_code(self, request: Request) -> HttpResponse:
        body = self.body(OtpRequestIn)
        client, browser = client_ip.network(request._request), browser_of(request._request)
        codes.request_code(email=body.email, intent=body.intent, client=client, browser=browser)
        message = "If this address has an account, a code is on its way to it."
        asked = answer({"status": "requested", "message": message})
        remember(asked, browser)
        return asked

    @operation(
        "verify_one_time_code",
        "Sign in with the code of the mail and the cookie of its request: the answer sets the session cookie.",
        permission=ANYBODY,
        body=OtpVerifyIn,
        answers={200: SignedIn},
        errors=[401, 404, 503],
    )
    def verify_code(self, request: Request) -> HttpResponse:
        body = self.body(OtpVerifyIn)
        done = sign_in.by_code(request=request._request, email=body.email, code=body.code)
        return answer({"status": "signed_in" if done else "second_factor_required"})

    @operation(
        "confirm_second_factor",
        "Finish signing in with the code of an authenticator app.",
        permission=ANYBODY,
        body=SecondFactorIn,
        answers={200: SignedIn},
        errors=[401, 404, 409, 503],
    )
    def confirm(self, request: Request) -> HttpResponse:
        sign_in.by_app(request=request._request, code=self.body(SecondFactorIn).code, may_enrol=False)
        return answer({"status": "signed_in"})


class CurrentCaller(Resource):
    @operation(
        "who_am_i",
        "Who the caller is, and what they may do.",
        permission=None,
        answers={200: Me},
    )
    def show(self, request: Request) -> HttpResponse:
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
                "permissions": [
                    permission.name.lower() for permission in roles.Permission if roles.allows(caller.role, permission)
                ],
                "csrf_token": get_token(request._request) if caller.member_id else None,
            }
        )


class Sessions(Resource):
    """Sessions of signed-in people. A key has none."""

    authentication_classes = (MemberSessionAuthentication,)

    @operation("sign_out", "End this session.", permission=None, answers={200: SignedIn})
    def sign_out(self, request: Request) -> HttpResponse:
        sessions.sign_out(request=request._request)
        return answer({"status": "signed_out"})

    @operation(
        "list_sessions",
        "Where the caller is signed in.",
        permission=None,
        query=ListPage,
        answers={200: SessionList},
    )
    def list(self, request: Request) -> HttpResponse:
        _require_person(request)
        mine = sessions.of_person(request._request)
        current = request._request.session.session_key
        page = self.query(ListPage)
        return answer(paginate(mine, page, moment="created_at", show=lambda row: _shown(row, current)))

    @operation(
        "end_session",
        "End one of the caller's sessions.",
        permission=None,
        answers={200: SessionOut},
        errors=[404],
    )
    def end(self, request: Request, session_id: int) -> HttpResponse:
        _require_person(request)
        session = db.only(sessions.of_person(request._request).filter(pk=session_id))
        if session is None:
            raise NotFound("You have no session of this id.")
        shown = _shown(session, request._request.session.session_key)
        sessions.end(session=session, because="revoked")
        return answer(shown)


def _require_person(request: Request) -> None:
    if not isinstance(request.user, User):
        raise NotAuthenticated("Only a person who signed in has sessions; an API key has none. Sign in at /sign-in/.")


def _shown(row: SignedInSession, current: str | None) -> dict[str, Any]:
    return {
        "session_id": str(row.pk),
        "client": row.client,
        "agent": row.agent,
        "created_at": rfc3339(row.created_at),
        "last_seen_at": rfc3339(row.last_seen_at),
        "current": row.session_key == current,
    }
