"""The base of every API view: authenticate, validate, call one service, answer."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

from config.api import body, strict_json
from config.api.answers import JSON
from config.api.errors import Invalid, invalid_json, invalid_model
from config.api.strict_json import InvalidJSON


class RequestBody(BaseModel):
    """A request body: strict types, unknown properties ignored.

    `private` names the fields whose values neither an error nor a printed form may repeat.
    """

    model_config = ConfigDict(strict=True)
    private: ClassVar[frozenset[str]] = frozenset()

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        return ((name, value) for name, value in super().__repr_args__() if name not in self.private)


Text = Annotated[str, Field(max_length=256, pattern="^[^\\x00]*$")]
"""A filter's value: what a column can hold, and PostgreSQL has no NUL."""


class QueryString(BaseModel):
    """Query parameters: texts that become the annotated types; an unknown one is an error, not a silent no-op."""

    model_config = ConfigDict(extra="forbid")


class Answer(BaseModel):
    """Every answer is an open object: properties may be added within /v1, never changed or removed."""

    model_config = ConfigDict(extra="allow")


Body = TypeVar("Body", bound=RequestBody)
Query = TypeVar("Query", bound=QueryString)


class ApiView(APIView):
    """Raises `Invalid` or `ApiError` for anything wrong with the request; `config.api.errors` answers.

    `permissions` names the permission that each method needs, or None where any caller will do. A method that is not
    named is refused, so forgetting one cannot open it.
    """

    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    permissions: ClassVar[Mapping[str, Any]] = {}

    def perform_content_negotiation(self, request: Request, force: bool = False) -> tuple[Any, str]:
        return None, JSON  # every answer is JSON, whatever the caller would accept

    def body(self, model: type[Body]) -> Body:
        try:
            document = strict_json.read(body.read(self.request), nul=False)
        except InvalidJSON as error:
            raise invalid_json(error, private=model if model.private else None) from None
        try:
            return model.model_validate(document)
        except ValidationError as error:
            raise invalid_model(error, "body", model.private) from None

    def query(self, model: type[Query]) -> Query:
        try:
            return model.model_validate(self.request.query_params.dict())
        except ValidationError as error:
            raise invalid_model(error, "query") from None


def path_value(adapter: TypeAdapter[Any], name: str, value: str) -> Any:
    """A path parameter, checked. Raises `Invalid`."""
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        problem = invalid_model(error, "path").problems[0]
        raise Invalid([{**problem, "loc": ["path", name]}]) from None
