from typing import Any

from django.http import Http404, HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from accounts import services
from accounts.api.common import refusals
from accounts.authentication import caller_of
from accounts.idempotency import idempotent
from accounts.models import ApiKey
from accounts.roles import Permission
from accounts.schemas import KeyIn, KeyList, KeyOut, ListPage, NewKeyOut
from config.api import openapi
from config.api.pagination import paginate
from config.api.responses import answer
from config.api.times import rfc3339
from config.api.views import ApiView


class ApiKeyListView(ApiView):
    permissions = {"GET": Permission.MANAGE_KEYS, "POST": Permission.MANAGE_KEYS}

    @extend_schema(
        operation_id="create_api_key",
        summary="Create an API key; it carries the caller's role and is shown once.",
        tags=["auth"],
        parameters=[openapi.IDEMPOTENCY_KEY],
        request=KeyIn,
        responses=openapi.answers({201: NewKeyOut}, errors=[401, 403, 409, 413, 415]),
    )
    @idempotent
    def post(self, request: Request) -> HttpResponse:
        caller = caller_of(request)
        with refusals():
            key, token = services.create_api_key(
                organization_id=caller.organization_id,
                name=self.body(KeyIn).name,
                role=caller.role,
                actor=caller.actor,
            )
        return answer({**_shown(key), "api_key": token}, status=201)

    @extend_schema(
        operation_id="list_api_keys",
        summary="List the organization's API keys, newest first, without their secrets.",
        tags=["extension"],
        parameters=openapi.query(ListPage),
        responses=openapi.answers({200: KeyList}, errors=[401, 403]),
    )
    def get(self, request: Request) -> HttpResponse:
        keys = ApiKey.objects.filter(organization_id=caller_of(request).organization_id)
        return answer(paginate(keys, self.query(ListPage), moment="created_at", show=_shown))


class ApiKeyView(ApiView):
    permissions = {"DELETE": Permission.MANAGE_KEYS}

    @extend_schema(
        operation_id="revoke_api_key",
        summary="Revoke an API key: it stops working within a second.",
        tags=["extension"],
        responses=openapi.answers({200: KeyOut}, errors=[401, 403, 404]),
    )
    def delete(self, request: Request, key_id: str) -> HttpResponse:
        caller = caller_of(request)
        key = ApiKey.objects.filter(organization_id=caller.organization_id, key_id=key_id).first()
        if key is None:
            raise Http404("There is no API key of this id in your organization.")
        return answer(_shown(services.revoke_api_key(key=key, actor=caller.actor)))


def _shown(key: ApiKey) -> dict[str, Any]:
    return {
        "key_id": key.key_id,
        "name": key.name,
        "role": key.role,
        "created_by": key.created_by,
        "created_at": rfc3339(key.created_at),
        "last_used_at": rfc3339(key.last_used_at),
        "expires_at": rfc3339(key.expires_at),
        "revoked_at": rfc3339(key.revoked_at),
    }
