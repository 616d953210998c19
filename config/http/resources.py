"""The base of the API: a class is a resource, a method an operation, its decorator the contract."""

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
"""Permission of an operation that is open to everyone: credentials are ignored."""


class Resource(ViewSetMixin, ApiView):
    """A resource of the API. `urls.py` maps methods of paths to its operations."""

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
        """Whether anyone may call the requested operation."""
        requested = getattr(self, self.action or "", None)  # not an operation for OPTIONS, which gets a 405
        return getattr(requested, "permission", None) is ANYBODY


def operation(
    operation_id: str,
    summary: str,
    *,
    permission: Any,
    answers: Answers,
    is_contract: bool = False,
    body: type[BaseModel] | Mapping[str, Any] | None = None,
    query: type[QueryString] | None = None,
    parameters: Sequence[OpenApiParameter] = (),
    errors: Sequence[int | openapi.ErrorModel] = (),
    **described: Any,
) -> Callable[[Operation], Operation]:
    """Make a method of a `Resource` an operation of the API.

    Args:
        operation_id, summary: for the OpenAPI document. Its path decides its group, see `config.http.groups`.
        is_contract: whether the operation is one of the contract's fourteen. The document marks them with `x-contract`.
        permission: the permission that the caller's role needs, None if every member's role will do, or `ANYBODY`.
        answers: models of the successes, by status.
        body, query: models of what the method reads. They only describe: the method still has to parse. A body
            without a model is described by its media type and schema.
        errors: further error statuses, with a model if the answer is more than a sentence. 401 and 403 follow from
            `permission`, 413 and 415 from `body`. An `idempotent` method gets its header by itself.
        described: further arguments for `extend_schema`.
    """

    def decorate(method: Operation) -> Operation:
        derived = {*([] if permission is ANYBODY else [401, 403]), *([413, 415] if body is not None else [])}
        declared = [*parameters, *(openapi.query(query) if query is not None else [])]
        if getattr(method, "is_idempotent", False):
            declared.append(openapi.IDEMPOTENCY_KEY)
        described_method: Operation = extend_schema(
            operation_id=operation_id,
            summary=summary,
            extensions={"x-contract": True} if is_contract else None,
            parameters=declared,
            request=body,
            responses=openapi.answers(dict(answers), errors=[*derived, *errors]),
            **described,
        )(method)
        described_method.permission = permission  # type: ignore[attr-defined]
        return described_method

    return decorate
