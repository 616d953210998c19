"""`/v1/openapi.json`, generated once a process: generating takes 1 s of CPU, and anyone may request it."""

import hashlib
import threading
from functools import cache
from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularJSONAPIView
from rest_framework.request import Request

_ONE_AT_A_TIME = threading.Lock()  # drf-spectacular cannot generate two documents at once


class OpenApiView(SpectacularJSONAPIView):
    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with _ONE_AT_A_TIME:
            document, etag = _document()
        renderer = request.accepted_renderer
        headers = {"ETag": etag, "Content-Disposition": f'inline; filename="openapi.{renderer.format}"'}
        response = HttpResponse(document, content_type=renderer.media_type, headers=headers)
        return get_conditional_response(request._request, etag=etag, response=response) or response


@cache
def _document() -> tuple[bytes, str]:
    """Return the document and its ETag."""
    schema = SchemaGenerator().get_schema(request=None, public=True)
    document = OpenApiJsonRenderer().render(schema)
    return document, f'"{hashlib.sha256(document).hexdigest()[:32]}"'
