from django.http import Http404, HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from accounts.api.common import refusals
from accounts.authentication import caller_of
from accounts.idempotency import idempotent
from accounts.models import Invite
from accounts.roles import Permission, Role
from accounts.schemas import AcceptInviteIn, InviteIn, InviteList, InviteOut, ListPage, SignedIn
from accounts.services import invites, second_factor, sessions
from config.api import openapi
from config.api.errors import ApiError
from config.api.pagination import paginate
from config.api.responses import answer
from config.api.times import rfc3339
from config.api.views import ApiView


class InviteListView(ApiView):
    permissions = {"GET": Permission.MANAGE_MEMBERS, "POST": Permission.MANAGE_MEMBERS}

    @extend_schema(
        operation_id="create_invite",
        summary="Invite a person with a role; an open invitation to the same address is replaced.",
        tags=["auth"],
        parameters=[openapi.IDEMPOTENCY_KEY],
        request=InviteIn,
        responses=openapi.answers({201: InviteOut}, errors=[401, 403, 409, 413, 415, 503]),
    )
    @idempotent
    def post(self, request: Request) -> HttpResponse:
        body = self.body(InviteIn)
        with refusals():
            made = invites.invite(caller=caller_of(request), email=body.email, role=Role(body.role))
        return answer(_shown(made), status=201)

    @extend_schema(
        operation_id="list_invites",
        summary="List the organization's invitations, newest first.",
        tags=["extension"],
        parameters=openapi.query(ListPage),
        responses=openapi.answers({200: InviteList}, errors=[401, 403]),
    )
    def get(self, request: Request) -> HttpResponse:
        rows = Invite.objects.filter(organization_id=caller_of(request).organization_id)
        return answer(paginate(rows, self.query(ListPage), moment="created_at", show=_shown))


class InviteView(ApiView):
    permissions = {"DELETE": Permission.MANAGE_MEMBERS}

    @extend_schema(
        operation_id="revoke_invite",
        summary="Withdraw an invitation: its link stops working at once.",
        tags=["extension"],
        responses=openapi.answers({200: InviteOut}, errors=[401, 403, 404]),
    )
    def delete(self, request: Request, invite_id: int) -> HttpResponse:
        caller = caller_of(request)
        found = Invite.objects.filter(organization_id=caller.organization_id, pk=invite_id).first()
        if found is None:
            raise Http404("There is no invitation of this id in your organization.")
        with refusals():
            return answer(_shown(invites.revoke_invite(invite=found, caller=caller)))


class AcceptInviteView(ApiView):
    authentication_classes = ()
    permission_classes = ()

    @extend_schema(
        operation_id="accept_invite",
        summary="Accept an invitation and sign in; the answer sets the session cookie.",
        tags=["extension"],
        request=AcceptInviteIn,
        responses=openapi.answers({200: SignedIn}, errors=[404, 413, 415, 503]),
    )
    def post(self, request: Request) -> HttpResponse:
        try:
            member = invites.accept_invite(token=self.body(AcceptInviteIn).token)
        except invites.InviteGone:
            raise ApiError(404, "This invitation is not open. Ask whoever invited you for a new one.") from None
        if second_factor.is_needed(member.user):
            return answer({"status": "second_factor_required"})
        sessions.begin(request=request._request, user=member.user, organization_id=member.organization_id)
        return answer({"status": "signed_in"})


def _shown(invite: Invite) -> dict[str, object]:
    return {
        "invite_id": str(invite.pk),
        "email": invite.email,
        "role": invite.role,
        "status": invite.status,
        "created_by": invite.created_by,
        "created_at": rfc3339(invite.created_at),
        "expires_at": rfc3339(invite.expires_at),
    }
