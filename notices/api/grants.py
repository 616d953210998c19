from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.idempotency import idempotent
from accounts.models import Member
from accounts.roles import Permission
from config.api import openapi
from config.api.pagination import Page, paginate
from config.api.responses import answer
from config.api.views import ApiView
from config.errors import Invalid
from notices import presenters, selectors, services
from notices.api.common import named_pack
from notices.models import AuthorityGrant
from notices.schemas import GrantIn, GrantList, GrantOut


class GrantListView(ApiView):
    permissions = {"GET": Permission.READ_DECISIONS, "POST": Permission.GRANT_AUTHORITY}

    @extend_schema(
        operation_id="list_authority_grants",
        summary="Who may approve notices by which authority, newest grant first.",
        tags=["extension"],
        parameters=openapi.query(Page),
        responses=openapi.answers({200: GrantList}, errors=[401, 403]),
    )
    def get(self, request: Request) -> HttpResponse:
        rows = AuthorityGrant.objects.filter(organization_id=caller_of(request).organization_id).select_related("user")
        return answer(paginate(rows, self.query(Page), moment="created_at", show=presenters.grant))

    @extend_schema(
        operation_id="grant_authority",
        summary="Give a member authority to approve notices.",
        tags=["extension"],
        parameters=[openapi.IDEMPOTENCY_KEY],
        request=GrantIn,
        responses=openapi.answers({201: GrantOut}, errors=[401, 403, 409, 413, 415]),
    )
    @idempotent
    def post(self, request: Request) -> HttpResponse:
        caller = caller_of(request)
        body = self.body(GrantIn)
        for place, name in enumerate(body.packs):
            named_pack(name, "packs", place)
        member = Member.objects.filter(
            organization_id=caller.organization_id, user__email=body.email.strip().lower()
        ).first()
        if member is None:
            raise Invalid(
                [{"type": "value_error", "loc": ["body", "email"], "msg": "No member has this mail address."}]
            )
        asked = body.model_dump(exclude={"email"})
        made = services.grant_authority(member=member, caller=caller, **asked)
        return answer(presenters.grant(made), status=201)


class GrantView(ApiView):
    permissions = {"DELETE": Permission.GRANT_AUTHORITY}

    @extend_schema(
        operation_id="revoke_authority_grant",
        summary="End an authority grant now; approvals made with it stand.",
        tags=["extension"],
        parameters=[OpenApiParameter("grant_id", {"type": "string"}, OpenApiParameter.PATH)],
        responses=openapi.answers({200: GrantOut}, errors=[401, 403, 404]),
    )
    def delete(self, request: Request, grant_id: int) -> HttpResponse:
        caller = caller_of(request)
        grant = selectors.authority_grant(caller.organization_id, grant_id)
        return answer(presenters.grant(services.revoke_grant(grant=grant, caller=caller)))
