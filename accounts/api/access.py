"""Sign-in, sign-out, sessions, and the current caller."""

from django.db.models import Q, QuerySet
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
        allowed = [p.name.lower() for p in roles.Permission if roles.allows(caller.role, p)]
        csrf_token = get_token(request._request) if caller.member_id else None
        me = Me.of(
            caller.actor, role=caller.role, organization=organization, permissions=allowed, csrf_token=csrf_token
        )
        return answer(me)


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
        return answer(paginate(_sessions(request), self.query(ListPage), moment="created_at", show=SessionList))

    @operation(
        "end_session",
        "End one of the caller's sessions.",
        permission=None,
        answers={200: SessionOut},
        errors=[404],
    )
    def end(self, request: Request, session_id: int) -> HttpResponse:
        session = db.only(_sessions(request).filter(pk=session_id))
        if session is None:
            raise NotFound("You have no session of this id.")
        shown = SessionOut.of(session)
        sessions.end(session=session, because="revoked")
        return answer(shown)


def _sessions(request: Request) -> QuerySet[SignedInSession]:
    """Return the sessions of the person who asks, with `current`. Raises NotAuthenticated: the caller is a key."""
    if not isinstance(request.user, User):
        raise NotAuthenticated("Only a person who signed in has sessions; an API key has none. Sign in at /sign-in/.")
    is_current = Q(session_key=request._request.session.session_key)
    return sessions.of_person(request._request).annotate(current=is_current)
