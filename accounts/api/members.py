from django.http import Http404, HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from accounts import services
from accounts.api.common import refusals
from accounts.authentication import caller_of
from accounts.models import ApiKey, Member, Organization
from accounts.roles import Permission, Role
from accounts.schemas import (
    ChangedMember,
    ListPage,
    MemberList,
    MemberPatch,
    OrganizationPatch,
    OrganizationSettings,
    Removal,
)
from accounts.services import members
from config.api import openapi
from config.api.pagination import paginate
from config.api.responses import answer
from config.api.times import rfc3339
from config.api.views import ApiView


class MemberListView(ApiView):
    permissions = {"GET": Permission.MANAGE_MEMBERS}

    @extend_schema(
        operation_id="list_members",
        summary="List the organization's members, newest first.",
        tags=["extension"],
        parameters=openapi.query(ListPage),
        responses=openapi.answers({200: MemberList}, errors=[401, 403]),
    )
    def get(self, request: Request) -> HttpResponse:
        rows = Member.objects.filter(organization_id=caller_of(request).organization_id).select_related("user")
        return answer(paginate(rows, self.query(ListPage), moment="created_at", show=_shown))


class MemberView(ApiView):
    permissions = {"PATCH": Permission.MANAGE_MEMBERS, "DELETE": Permission.MANAGE_MEMBERS}

    @extend_schema(
        operation_id="change_member_role",
        summary="Give a member another role; if it may less, the keys they made are revoked.",
        tags=["extension"],
        request=MemberPatch,
        responses=openapi.answers({200: ChangedMember}, errors=[401, 403, 404, 409, 413, 415]),
    )
    def patch(self, request: Request, member_id: int) -> HttpResponse:
        body = self.body(MemberPatch)
        with refusals():
            changed, made = members.change_role(
                caller=caller_of(request),
                member=_member(request, member_id),
                role=Role(body.role),
                keep_keys=body.keep_keys,
            )
        return answer({**_shown(changed), "keys": list(map(_key, made))})

    @extend_schema(
        operation_id="remove_member",
        summary="End a membership and the person's sessions, and revoke the keys they made.",
        tags=["extension"],
        parameters=openapi.query(Removal),
        responses=openapi.answers({200: ChangedMember}, errors=[401, 403, 404, 409]),
    )
    def delete(self, request: Request, member_id: int) -> HttpResponse:
        keep_keys = self.query(Removal).keep_keys
        with refusals():
            removed, made = members.remove_member(
                caller=caller_of(request), member=_member(request, member_id), keep_keys=keep_keys
            )
        return answer({**_shown(removed), "keys": list(map(_key, made))})


class OrganizationView(ApiView):
    permissions = {"GET": None, "PATCH": Permission.MANAGE_ORGANIZATION}

    @extend_schema(
        operation_id="get_organization",
        summary="The caller's organization.",
        tags=["extension"],
        responses=openapi.answers({200: OrganizationSettings}, errors=[401, 403]),
    )
    def get(self, request: Request) -> HttpResponse:
        return answer(_organization(Organization.objects.get(pk=caller_of(request).organization_id)))

    @extend_schema(
        operation_id="update_organization",
        summary="Ask approvers and owners for a second factor, or stop asking.",
        tags=["extension"],
        request=OrganizationPatch,
        responses=openapi.answers({200: OrganizationSettings}, errors=[401, 403, 413, 415]),
    )
    def patch(self, request: Request) -> HttpResponse:
        caller = caller_of(request)
        organization = Organization.objects.get(pk=caller.organization_id)
        required = self.body(OrganizationPatch).second_factor_required
        services.require_second_factor(organization=organization, required=required, actor=caller.actor)
        organization.refresh_from_db()
        return answer(_organization(organization))


def _member(request: Request, member_id: int) -> Member:
    found = Member.objects.filter(organization_id=caller_of(request).organization_id, pk=member_id)
    member = found.select_related("user").first()
    if member is None:
        raise Http404("There is no member of this id in your organization.")
    return member


def _shown(member: Member) -> dict[str, object]:
    return {
        "member_id": str(member.pk),
        "email": member.user.email,
        "name": member.user.name,
        "role": member.role,
        "created_at": rfc3339(member.created_at),
    }


def _key(key: ApiKey) -> dict[str, object]:
    return {"key_id": key.key_id, "name": key.name, "role": key.role, "revoked_at": rfc3339(key.revoked_at)}


def _organization(organization: Organization) -> dict[str, object]:
    return {
        "id": str(organization.pk),
        "slug": organization.slug,
        "name": organization.name,
        "second_factor_required": organization.second_factor_required,
    }
