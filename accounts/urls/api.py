from django.urls import path

from accounts.api import access, audit, invites, keys, members, onboarding
from config.api import converters  # noqa: F401 - registers `id`

urlpatterns = [
    path("auth/otp/request", access.OtpRequestView.as_view()),
    path("auth/otp/verify", access.OtpVerifyView.as_view()),
    path("auth/second-factor", access.SecondFactorView.as_view()),
    path("auth/me", access.MeView.as_view()),
    path("auth/sign-out", access.SignOutView.as_view()),
    path("auth/sessions", access.SessionListView.as_view()),
    path("auth/sessions/<id:session_id>", access.SessionView.as_view()),
    path("auth/invites", invites.InviteListView.as_view()),
    path("auth/invites/accept", invites.AcceptInviteView.as_view()),
    path("auth/invites/<id:invite_id>", invites.InviteView.as_view()),
    path("auth/api-keys", keys.ApiKeys.as_view({"get": "list", "post": "create"})),
    path("auth/api-keys/<slug:key_id>", keys.ApiKeys.as_view({"delete": "revoke"})),
    path("auth/members", members.MemberListView.as_view()),
    path("auth/members/<id:member_id>", members.MemberView.as_view()),
    path("auth/organization", members.OrganizationView.as_view()),
    path("auth/onboarding", onboarding.OnboardingView.as_view()),
    path("audit", audit.AuditView.as_view()),
    path("audit/export", audit.AuditExportView.as_view()),
]
