import uuid
from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.browsers import browser_of, remember
from accounts.idempotency import idempotent_while
from accounts.models import Invite
from accounts.roles import Permission, Role
from accounts.schemas import AcceptInviteIn, InviteIn, InviteList, InviteOut, ListPage, SignedIn
from accounts.services import invites
from config import client_ip, db
from config.errors import NotFound
from config.http.cursors import paginate
from config.http.json_responses import answer
from config.http.resources import ANYBODY, Resource, operation


def _not_withdrawn(organization_id: uuid.UUID, made: Mapping[str, Any]) -> QuerySet[Invite]:
    return Invite.objects.for_organization(organization_id).filter(pk=made["invite_id"], revoked_at=None)


class Invites(Resource):
    @operation(
        "create_invite",
        "Invite a person with a role; an open invitation to the same address is replaced.",
        is_contract=True,
        permission=Permission.MANAGE_MEMBERS,
        body=InviteIn,
        answers={201: InviteOut},
        errors=[409, 503],
    )
    @idempotent_while(_not_withdrawn)
    def create(self, request: Request) -> HttpResponse:
        body = self.body(InviteIn)
        made = invites.invite(caller=caller_of(request), email=body.email, role=Role(body.role))
        return answer(InviteOut.of(made), status=201)

    @operation(
        "list_invites",
        "List the organization's invitations, newest first.",
        permission=Permission.MANAGE_MEMBERS,
        query=ListPage,
        answers={200: InviteList},
    )
    def list(self, request: Request) -> HttpResponse:
        rows = Invite.objects.for_organization(caller_of(request).organization_id)
        return answer(paginate(rows, self.query(ListPage), moment="created_at", show=InviteList))

    @operation(
        "revoke_invite",
        "Withdraw an invitation: its link stops working at once.",
        permission=Permission.MANAGE_MEMBERS,
        answers={200: InviteOut},
        errors=[404],
    )
    def revoke(self, request: Request, invite_id: int) -> HttpResponse:
        caller = caller_of(request)
        invite = db.only(Invite.objects.for_organization(caller.organization_id).filter(pk=invite_id))
        if invite is None:
            raise NotFound("There is no invitation of this id in your organization.")
        return answer(InviteOut.of(invites.revoke_invite(caller=caller, invite=invite)))

    @operation(
        "accept_invite",
        "Mail a code to the invited address: `verify_one_time_code` accepts with it, and the cookie of this answer.",
        permission=ANYBODY,
        body=AcceptInviteIn,
        answers={200: SignedIn},
        errors=[404, 429, 503],
    )
    def accept(self, request: Request) -> HttpResponse:
        client, browser = client_ip.network(request._request), browser_of(request._request)
        invites.request_code(token=self.body(AcceptInviteIn).token, client=client, browser=browser)
        sent = answer({"status": "code_required"})
        remember(sent, browser)
        return sent
