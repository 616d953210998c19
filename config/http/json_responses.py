"""Answers of the API: always JSON, always an object."""

import json
from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse

JSON = "application/json"


def answer(document: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """Return a JSON answer."""
    return HttpResponse(dump(document), status=status, headers=headers, content_type=JSON)


def dump(document: Mapping[str, Any]) -> bytes:
    """Return compact UTF-8 JSON. Raises ValueError for NaN and infinities, which JSON lacks."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
