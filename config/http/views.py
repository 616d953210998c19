"""The base of every API view: authenticate, validate, call one service, answer."""

import json
from collections.abc import Sequence
from decimal import Decimal
from itertools import islice
from typing import Any, TypeVar

from django.utils.functional import cached_property
from pydantic import ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

from config.http import body, strict_json
from config.http.json_responses import JSON, dump
from config.http.schemas import QueryString, RequestBody
from config.http.strict_json import InvalidJSON
from config.http.validation import invalid_json, invalid_model, repeated_parameters

_MAX_IGNORED = 20
_MAX_IGNORED_CHARACTERS = 64

Body = TypeVar("Body", bound=RequestBody)
Query = TypeVar("Query", bound=QueryString)


class ApiView(APIView):
    """A view that raises a `DomainError` for a bad request. `config.http.error_answers` answers it."""

    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    ignored: Sequence[str] = ()
    """Names in the body that its model lacks. The answer lists them, so that a typo is noticed."""

    def perform_content_negotiation(self, request: Request, force: bool = False) -> tuple[Any, str]:
        return None, JSON  # whatever the caller accepts

    @cached_property
    def raw_body(self) -> bytes:
        """Return the bytes of the body. The stream can be read only once."""
        return body.read(self.request)

    def body(self, model: type[Body]) -> Body:
        has_record = bool(model.record_in)
        try:
            document = strict_json.read(self.raw_body, number=Decimal if has_record else float, nul=has_record)
        except InvalidJSON as error:
            in_record = has_record and error.path is not None and error.path[:1] == (model.record_in,)
            raise invalid_json(error, private=model if model.private and not in_record else None) from None
        try:
            read = model.model_validate(document)
        except ValidationError as error:
            raise invalid_model(error, "body", model.private) from None
        unknown = (name[:_MAX_IGNORED_CHARACTERS] for name in document if name not in model.model_fields)
        self.ignored = list(islice(unknown, _MAX_IGNORED))
        return read

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        if self.ignored and response.status_code < 300:
            response.content = dump({**json.loads(response.content), "ignored": self.ignored})
        return super().finalize_response(request, response, *args, **kwargs)

    def query(self, model: type[Query]) -> Query:
        sent = self.request.query_params
        if repeated := [name for name in model.model_fields if len(sent.getlist(name)) > 1]:
            raise repeated_parameters(repeated)
        try:
            return model.model_validate(sent.dict())
        except ValidationError as error:
            raise invalid_model(error, "query") from None
