from django.urls import path

from accounts.api.access import CurrentCaller, Sessions, SignIn
from accounts.api.audit import AuditTrail
from accounts.api.invites import Invites
from accounts.api.keys import ApiKeys
from accounts.api.members import Members
from accounts.api.organization import CurrentOrganization, Onboarding
from config.http import converters  # noqa: F401 - registers `id`

urlpatterns = [
    path("auth/otp/request", SignIn.as_view({"post": "request_code"})),
    path("auth/otp/verify", SignIn.as_view({"post": "verify_code"})),
    path("auth/second-factor", SignIn.as_view({"post": "confirm"})),
    path("auth/me", CurrentCaller.as_view({"get": "show"})),
    path("auth/sign-out", Sessions.as_view({"post": "sign_out"})),
    path("auth/sessions", Sessions.as_view({"get": "list"})),
    path("auth/sessions/<id:session_id>", Sessions.as_view({"delete": "end"})),
    path("auth/invites", Invites.as_view({"get": "list", "post": "create"})),
    path("auth/invites/accept", Invites.as_view({"post": "accept"})),
    path("auth/invites/<id:invite_id>", Invites.as_view({"delete": "revoke"})),
    path("auth/api-keys", ApiKeys.as_view({"get": "list", "post": "create"})),
    path("auth/api-keys/<slug:key_id>", ApiKeys.as_view({"delete": "revoke"})),
    path("auth/members", Members.as_view({"get": "list"})),
    path("auth/members/<id:member_id>", Members.as_view({"patch": "change_role", "delete": "remove"})),
    path("auth/organization", CurrentOrganization.as_view({"get": "show", "patch": "update"})),
    path("auth/onboarding", Onboarding.as_view({"get": "show", "patch": "update"})),
    path("audit", AuditTrail.as_view({"get": "list"})),
    path("audit/export", AuditTrail.as_view({"get": "export"})),
]
