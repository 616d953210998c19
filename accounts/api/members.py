from django.http import HttpResponse
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.models import Member
from accounts.roles import Permission, Role
from accounts.schemas import ChangedMember, ListPage, MemberList, MemberPatch, Removal
from accounts.services import members
from config import db
from config.errors import NotFound
from config.http.cursors import paginate
from config.http.json_responses import answer
from config.http.resources import Resource, operation


class Members(Resource):
    @operation(
        "list_members",
        "List the organization's members, newest first.",
        permission=Permission.MANAGE_MEMBERS,
        query=ListPage,
        answers={200: MemberList},
    )
    def list(self, request: Request) -> HttpResponse:
        rows = Member.objects.for_organization(caller_of(request).organization_id).select_related("user")
        return answer(paginate(rows, self.query(ListPage), moment="created_at", show=MemberList))

    @operation(
        "change_member_role",
        "Give a member another role; if it may do less, the keys and invitations they made are revoked.",
        permission=Permission.MANAGE_MEMBERS,
        body=MemberPatch,
        answers={200: ChangedMember},
        errors=[404, 409],
    )
    def change_role(self, request: Request, member_id: int) -> HttpResponse:
        body = self.body(MemberPatch)
        changed, made = members.change_role(
            caller=caller_of(request),
            member=_member(request, member_id),
            role=Role(body.role),
            keep_keys=body.keep_keys,
        )
        return answer(ChangedMember.of(changed, **made._asdict()))

    @operation(
        "remove_member",
        "End a membership and the person's sessions, and revoke the keys and invitations they made.",
        permission=Permission.MANAGE_MEMBERS,
        query=Removal,
        answers={200: ChangedMember},
        errors=[404, 409],
    )
    def remove(self, request: Request, member_id: int) -> HttpResponse:
        keep_keys = self.query(Removal).keep_keys
        removed, made = members.remove_member(
            caller=caller_of(request), member=_member(request, member_id), keep_keys=keep_keys
        )
        return answer(ChangedMember.of(removed, **made._asdict()))


def _member(request: Request, member_id: int) -> Member:
    rows = Member.objects.for_organization(caller_of(request).organization_id).select_related("user")
    member = db.only(rows.filter(pk=member_id))
    if member is None:
        raise NotFound("There is no member of this id in your organization.")
    return member
