"""The base of the API: one class a resource, one method an operation, and beside each what it needs and may answer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BaseModel
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request
from rest_framework.viewsets import ViewSetMixin

from config.http import openapi
from config.http.schemas import QueryString
from config.http.views import ApiView

Operation = TypeVar("Operation", bound=Callable[..., HttpResponseBase])
Answers = Mapping[Any, Any]

ANYBODY: Final = "anybody"
"""In the place of a permission: no credentials are asked for, nor looked at."""


class Resource(ViewSetMixin, ApiView):
    """A resource of the API. `urls.py` says which of its operations answers which method of which path."""

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        self.action = self.action_map.get(
            str(request.method).lower(), ""
        )  # DRF sets it only after it has authenticated
        return super().initialize_request(request, *args, **kwargs)

    def get_authenticators(self) -> list[BaseAuthentication]:
        return [] if self._is_open() else super().get_authenticators()

    def get_permissions(self) -> Sequence[Any]:
        return [] if self._is_open() else super().get_permissions()

    def _is_open(self) -> bool:
        """Whether anybody may call the operation that was asked for."""
        asked = getattr(self, self.action or "", None)  # for OPTIONS, which is answered with 405, it is no operation
        return getattr(asked, "permission", None) is ANYBODY


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
    errors: Sequence[int | openapi.ErrorModel] = (),
    **described: Any,
) -> Callable[[Operation], Operation]:
    """Make a method of a `Resource` an operation of the API.

    Args:
        operation_id, summary, tag: as the OpenAPI document names it; what the contract does not have is an `extension`.
        permission: what the caller's role has to allow; None where any will do that members have; or `ANYBODY`.
        answers: the models of its successes, by status.
        body, query: the models of what it reads; the method still asks for them. A body without a model is described by
            its media type and schema.
        errors: what it may answer besides what follows from the rest: 401 and 403 unless it is for anybody, 413 and 415
            for a body; with its model where the answer says more than a sentence. A method that is `idempotent` takes
            the header of that name.
        described: more for `extend_schema`.
    """

    def decorate(method: Operation) -> Operation:
        derived = {*([] if permission is ANYBODY else [401, 403]), *([413, 415] if body is not None else [])}
        asked = [*parameters, *(openapi.query(query) if query is not None else [])]
        if getattr(method, "is_idempotent", False):
            asked.append(openapi.IDEMPOTENCY_KEY)
        described_method: Operation = extend_schema(
            operation_id=operation_id,
            summary=summary,
            tags=[tag],
            parameters=asked,
            request=body,
            responses=openapi.answers(dict(answers), errors=[*derived, *errors]),
            **described,
        )(method)
        described_method.permission = permission  # type: ignore[attr-defined]
        return described_method

    return decorate
