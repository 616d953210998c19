from django.urls import path, register_converter
from django.urls.converters import IntConverter

from accounts.api import access, audit, invites, keys, members, onboarding


class RowId(IntConverter):
    """A row's number, of no more digits than a row can have: a longer one is nobody's, so it is a 404."""

    regex = "[0-9]{1,18}"


register_converter(RowId, "id")

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
    path("auth/api-keys", keys.ApiKeyListView.as_view()),
    path("auth/api-keys/<slug:key_id>", keys.ApiKeyView.as_view()),
    path("auth/members", members.MemberListView.as_view()),
    path("auth/members/<id:member_id>", members.MemberView.as_view()),
    path("auth/organization", members.OrganizationView.as_view()),
    path("auth/onboarding", onboarding.OnboardingView.as_view()),
    path("audit", audit.AuditView.as_view()),
    path("audit/export", audit.AuditExportView.as_view()),
]
