"""Answers of the API: always JSON, always an object."""

import json
from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from pydantic_core import to_json

from config.http.schemas import Answer

JSON = "application/json"


def answer(
    document: Mapping[str, Any] | Answer, status: int = 200, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """Return a JSON answer."""
    return HttpResponse(dump(document), status=status, headers=headers, content_type=JSON)


def dump(document: Mapping[str, Any] | Answer) -> bytes:
    """Return compact UTF-8 JSON. Raises ValueError for NaN and infinities in a mapping, which JSON lacks."""
    if isinstance(document, Answer):
        return to_json(document)
    return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
