import uuid
from collections.abc import Mapping
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from accounts import services
from accounts.authentication import caller_of
from accounts.idempotency import idempotent_while
from accounts.models import ApiKey
from accounts.roles import Permission, Role
from accounts.schemas import KeyIn, KeyList, ListPage, NewKeyOut, RevokedKey
from config import db
from config.errors import NotFound
from config.http.cursors import paginate
from config.http.json_responses import answer
from config.http.resources import Resource, operation


def _working(organization_id: uuid.UUID, made: Mapping[str, Any]) -> QuerySet[ApiKey]:
    keys = ApiKey.objects.for_organization(organization_id).filter(key_id=made["key_id"], revoked_at=None)
    return keys.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()))


class ApiKeys(Resource):
    @operation(
        "create_api_key",
        "Create an API key; it carries the caller's role, or a lower one, and is shown once.",
        is_contract=True,
        permission=Permission.MANAGE_KEYS,
        body=KeyIn,
        answers={201: NewKeyOut},
        errors=[409],
    )
    @idempotent_while(_working)
    def create(self, request: Request) -> HttpResponse:
        caller, body = caller_of(request), self.body(KeyIn)
        role = Role(body.role) if body.role else caller.role
        key, token = services.create_api_key(caller=caller, name=body.name, role=role, expires_at=body.expires_at)
        return answer(NewKeyOut.of(key, api_key=token), status=201)

    @operation(
        "list_api_keys",
        "List the organization's API keys, newest first, without their secrets.",
        permission=Permission.MANAGE_KEYS,
        query=ListPage,
        answers={200: KeyList},
    )
    def list(self, request: Request) -> HttpResponse:
        keys = ApiKey.objects.for_organization(caller_of(request).organization_id).select_related("making_key")
        return answer(paginate(keys, self.query(ListPage), moment="created_at", show=KeyList))

    @operation(
        "revoke_api_key",
        "Revoke an API key and all it made: they stop working within a second.",
        permission=Permission.MANAGE_KEYS,
        answers={200: RevokedKey},
        errors=[404],
    )
    def revoke(self, request: Request, key_id: str) -> HttpResponse:
        caller = caller_of(request)
        keys = ApiKey.objects.for_organization(caller.organization_id).select_related("making_key")
        key = db.only(keys.filter(key_id=key_id))
        if key is None:
            raise NotFound("There is no API key of this id in your organization.")
        made = services.revoke_api_key(caller=caller, key=key)
        return answer(RevokedKey.of(key, **made._asdict()))
