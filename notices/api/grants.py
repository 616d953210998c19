import uuid
from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from accounts.authentication import caller_of
from accounts.idempotency import idempotent_while
from accounts.models import Member
from accounts.roles import Permission
from config import db
from config.errors import Invalid
from config.http.cursors import Page, paginate
from config.http.json_responses import answer
from config.http.resources import Resource, operation
from notices import selectors, services
from notices.api.parameters import pack_named
from notices.models import AuthorityGrant
from notices.schemas import GrantIn, GrantList, GrantOut


def _not_revoked(organization_id: uuid.UUID, made: Mapping[str, Any]) -> QuerySet[AuthorityGrant]:
    return AuthorityGrant.objects.for_organization(organization_id).filter(pk=made["grant_id"], revoked_at=None)


class AuthorityGrants(Resource):
    @operation(
        "list_authority_grants",
        "List authority grants, newest first.",
        permission=Permission.READ_DECISIONS,
        query=Page,
        answers={200: GrantList},
    )
    def list(self, request: Request) -> HttpResponse:
        rows = AuthorityGrant.objects.for_organization(caller_of(request).organization_id).select_related("user")
        return answer(paginate(rows, self.query(Page), moment="created_at", show=GrantList))

    @operation(
        "grant_authority",
        "Give a member authority to approve notices.",
        permission=Permission.GRANT_AUTHORITY,
        body=GrantIn,
        answers={201: GrantOut},
        errors=[409],
    )
    @idempotent_while(_not_revoked)
    def create(self, request: Request) -> HttpResponse:
        caller, body = caller_of(request), self.body(GrantIn)
        for position, name in enumerate(body.packs):
            pack_named(name, "packs", position)
        members = Member.objects.for_organization(caller.organization_id)
        member = db.only(members.filter(user__email=body.email.strip().lower()))
        if member is None:
            raise Invalid(
                [{"type": "value_error", "loc": ["body", "email"], "msg": "No member has this mail address."}]
            )
        grant = services.grant_authority(caller=caller, member=member, **body.model_dump(exclude={"email"}))
        return answer(GrantOut.of(grant), status=201)

    @operation(
        "revoke_authority_grant",
        "End an authority grant now. Approvals made with it stay valid.",
        permission=Permission.GRANT_AUTHORITY,
        parameters=[OpenApiParameter("grant_id", {"type": "string"}, OpenApiParameter.PATH)],
        answers={200: GrantOut},
        errors=[404],
    )
    def revoke(self, request: Request, grant_id: int) -> HttpResponse:
        caller = caller_of(request)
        grant = selectors.authority_grant(caller.organization_id, grant_id)
        return answer(GrantOut.of(services.revoke_grant(caller=caller, grant=grant)))
