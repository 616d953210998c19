"""Parts of the OpenAPI document that drf-spectacular does not derive from the views."""

from collections.abc import Iterable
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from pydantic import BaseModel

from config.http.json_responses import JSON
from config.http.schemas import Error, QueryString

DECISION_ID = OpenApiParameter(
    "decision_id", {"type": "string", "minLength": 1, "maxLength": 256}, OpenApiParameter.PATH
)
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]*$"},
    OpenApiParameter.HEADER,
    description="Sent again with the same body within 24 hours, the request is answered as the first time.",
)

_IGNORED = "Names that the schema does not have are ignored; the property `ignored` of a success lists them."

_SENTENCES = {
    401: "No valid credentials.",
    403: "The caller's role does not allow this.",
    404: "Nothing of this identifier in the caller's organization.",
    409: "In conflict with what is stored; nothing was changed.",
    410: "The record was disposed of; its proof remains.",
    413: "The body is too large.",
    415: "The body is of another content type.",
    429: "Too many requests; see Retry-After.",
    503: "Storage does not answer right now; see Retry-After and repeat the request.",
}


class ValidationError(BaseModel):
    loc: list[str | int]
    msg: str
    type: str
    input: Any = None
    ctx: dict[str, Any] = {}


class HTTPValidationError(BaseModel):
    detail: list[ValidationError] = []


ErrorModel = tuple[int, type[BaseModel]]
"""A status and the model of its body, where that is more than a sentence."""


class Schema(AutoSchema):
    """drf-spectacular's view inspection, for views that name their operations and answers themselves."""

    def map_parsers(self) -> list[str]:
        return [JSON]  # config.http.body reads bodies, not DRF's parsers

    def get_description(self) -> str:  # type: ignore[override]
        return ""  # docstrings of views are for maintainers

    def _is_list_view(self, serializer: Any = None) -> bool:
        return False


class _ApiKeyScheme(OpenApiAuthenticationExtension):
    target_class = "accounts.authentication.ApiKeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "drs_<id>_<secret>"}


class _SessionScheme(OpenApiAuthenticationExtension):
    target_class = "accounts.authentication.MemberSessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}


def answers(success: dict[Any, Any], *, errors: Iterable["int | ErrorModel"]) -> dict[Any, Any]:
    """Return an operation's responses: its successes, the validation error, and the sentences of `errors`."""
    models: dict[int, type[BaseModel]] = {422: HTTPValidationError}
    for error in errors:
        status, model = (error, Error) if isinstance(error, int) else error
        models[status] = model
    described = {
        status: OpenApiResponse(models[status], _SENTENCES.get(status, "Validation error."))
        for status in sorted(models)
    }
    return {**success, **described}


def query(model: type[QueryString]) -> list[OpenApiParameter]:
    """Return the query parameters that a model describes."""
    schema = model.model_json_schema()
    return [
        OpenApiParameter(
            name,
            _parameter_schema(described),
            required=name in schema.get("required", ()),
            description=described.get("description", ""),
        )
        for name, described in schema["properties"].items()
    ]


def _parameter_schema(described: dict[str, Any]) -> dict[str, Any]:
    """Return a parameter's schema without the null of a default of None: a parameter can be absent, but not null."""
    (present,) = [s for s in described.get("anyOf", [described]) if s.get("type") != "null"]
    return {name: value for name, value in present.items() if name not in ("title", "description")}


def require_bodies(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Mark every body as required, as the contract does. drf-spectacular omits that for PATCH."""
    for operations in result["paths"].values():
        for operation in operations.values():
            if "requestBody" in operation:
                operation["requestBody"]["required"] = True
                if "$ref" in operation["requestBody"]["content"].get(JSON, {}).get("schema", {}):
                    operation["requestBody"]["description"] = _IGNORED
    return result
