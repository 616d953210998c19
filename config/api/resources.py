"""The base of the API: one class a resource, one method an operation, and beside each what it needs and may answer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BaseModel
from rest_framework.viewsets import ViewSetMixin

from config.api import openapi
from config.api.schemas import QueryString
from config.api.views import ApiView

Operation = Callable[..., HttpResponseBase]
Answers = Mapping[Any, Any]


class Resource(ViewSetMixin, ApiView):
    """A resource of the API. `urls.py` says which of its operations answers which method of which path."""


def operation(
    operation_id: str,
    summary: str,
    *,
    permission: Any,
    answers: Answers,
    tag: str = "extension",
    body: type[BaseModel] | Mapping[str, Any] | None = None,
    query: type[QueryString] | None = None,
    parameters: Sequence[OpenApiParameter] = (),
    errors: Sequence[int] = (),
    **described: Any,
) -> Callable[[Operation], Operation]:
    """Make a method of a `Resource` an operation of the API.

    Args:
        operation_id, summary, tag: as the OpenAPI document names it; what the contract does not have is an `extension`.
        permission: what the caller's role has to allow; None where any caller will do.
        answers: the models of its successes, by status.
        body, query: the models of what it reads; the method still asks for them. A body without a model is described by
            its media type and schema.
        errors: what it may answer besides what follows from the rest: 401 always, 403 for a permission, 413 and 415 for
            a body. A method that is `idempotent` takes the header of that name.
        described: more for `extend_schema`.
    """

    def decorate(method: Operation) -> Operation:
        derived = {401, *([403] if permission is not None else []), *([413, 415] if body is not None else [])}
        asked = [*parameters, *(openapi.query(query) if query is not None else [])]
        if getattr(method, "is_idempotent", False):
            asked.append(openapi.IDEMPOTENCY_KEY)
        described_method = extend_schema(
            operation_id=operation_id,
            summary=summary,
            tags=[tag],
            parameters=asked,
            request=body,
            responses=openapi.answers(dict(answers), errors=sorted(derived | set(errors))),
            **described,
        )(method)
        described_method.permission = permission  # type: ignore[attr-defined]
        return described_method

    return decorate
