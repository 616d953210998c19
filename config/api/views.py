"""The base of every API view: authenticate, validate, call one service, answer."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, ClassVar, TypeVar

from django.utils.functional import cached_property
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

from config.api import body, strict_json
from config.api.responses import JSON, dump
from config.api.strict_json import InvalidJSON
from config.api.validation import invalid_json, invalid_model


class RequestBody(BaseModel):
    """A request body: strict types, unknown properties ignored, which the answer then says.

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


_MOST_IGNORED = 20
_LONGEST_IGNORED = 64

Body = TypeVar("Body", bound=RequestBody)
Query = TypeVar("Query", bound=QueryString)


class ApiView(APIView):
    """Raises a `DomainError` for anything wrong with the request; `config.api.errors` answers.

    `permissions` names the permission that each method needs, or None where any caller will do. A method that is not
    named is refused, so forgetting one cannot open it.
    """

    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    permissions: ClassVar[Mapping[str, Any]] = {}
    ignored: Sequence[str] = ()
    """Names in the body that its table does not have. The answer lists them, or a misspelt one would be lost unseen."""

    def perform_content_negotiation(self, request: Request, force: bool = False) -> tuple[Any, str]:
        return None, JSON  # every answer is JSON, whatever the caller would accept

    @cached_property
    def raw_body(self) -> bytes:
        """The bytes of the body, which can be read only once."""
        return body.read(self.request)

    def body(self, model: type[Body]) -> Body:
        try:
            document = strict_json.read(self.raw_body, nul=False)
        except InvalidJSON as error:
            raise invalid_json(error, private=model if model.private else None) from None
        try:
            read = model.model_validate(document)
        except ValidationError as error:
            raise invalid_model(error, "body", model.private) from None
        unknown = (name[:_LONGEST_IGNORED] for name in document if name not in model.model_fields)
        self.ignored = list(islice(unknown, _MOST_IGNORED))
        return read

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        if self.ignored and response.status_code < 300:
            response.content = dump({**json.loads(response.content), "ignored": self.ignored})
        return super().finalize_response(request, response, *args, **kwargs)

    def query(self, model: type[Query]) -> Query:
        try:
            return model.model_validate(self.request.query_params.dict())
        except ValidationError as error:
            raise invalid_model(error, "query") from None
