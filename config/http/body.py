"""Readers of request bodies: check type and size, then read one JSON document or a stream of lines."""

from collections.abc import Iterator
from typing import Any

from django.utils.http import parse_header_parameters
from rest_framework.request import Request

from config.errors import DomainError, Invalid
from config.http import strict_json
from config.http.json_responses import JSON
from config.http.messages import ANONYMOUS, CUT, MAX_ANONYMOUS_BYTES

NDJSON = "application/x-ndjson"
MAX_UPLOAD_BYTES = 32 * 2**20
MAX_UPLOAD_LINES = 100_000
_CHUNK = 64 * 2**10


class TooLarge(DomainError):
    """The body exceeds its limit."""

    code, status = "too_large", 413


class UnsupportedType(DomainError):
    """The body has another content type."""

    code, status = "unsupported_type", 415


def read(request: Request) -> bytes:
    """Return the raw body of a JSON request.

    Raises:
        Invalid: the body is missing.
        UnsupportedType
        TooLarge: more than 1 MiB.
    """
    _require_content_type(request, JSON)
    limit = strict_json.MAX_BYTES
    _refuse_more_than(limit, request)
    data: bytes = _stream(request).read(limit + 1)
    if len(data) > limit:
        raise _too_large(limit)
    if not data:
        raise _missing()
    return data


def lines(request: Request) -> Iterator[bytes]:
    """Yield the lines of an NDJSON upload as they arrive, without line ends.

    Each has at most 1 MiB + 1 byte: a longer line is cut there, so that its reader refuses it by its size. An empty
    file is a valid batch of no records.

    Raises:
        Invalid: body and content type are both missing.
        UnsupportedType
        TooLarge: more than 32 MiB or 100,000 lines.
    """
    _require_content_type(request, NDJSON)
    _refuse_more_than(MAX_UPLOAD_BYTES, request)
    return _counted(_split(_stream(request)))


def _require_content_type(request: Request, expected: str) -> None:
    content_type, parameters = parse_header_parameters(request.META.get("CONTENT_TYPE", ""))
    if content_type != expected or parameters.get("charset", "utf-8").lower() not in ("utf-8", "utf8"):
        if not _has_bytes(request):
            raise _missing()  # an empty body has no type to complain about
        raise UnsupportedType(f"Send the body as Content-Type: {expected} in UTF-8.")


def _has_bytes(request: Request) -> bool:
    return bool(_stream(request).read(1)) if _is_chunked(request) else _announced(request) > 0


def _missing() -> Invalid:
    return Invalid([{"type": "missing", "loc": ["body"], "msg": "Field required"}])


def _stream(request: Request) -> Any:
    # Django reads a body without Content-Length as empty. The server has already decoded the chunks.
    return request.META["wsgi.input"] if _is_chunked(request) else request._request


def _is_chunked(request: Request) -> bool:
    return "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower()


def _announced(request: Request) -> int:
    length = request.META.get("CONTENT_LENGTH") or "0"
    return int(length) if length.isdecimal() else 0


def _refuse_more_than(limit: int, request: Request) -> None:
    if request.META.get(ANONYMOUS):
        raise TooLarge(f"Without credentials, at most {MAX_ANONYMOUS_BYTES // 2**10} KiB are read.")
    if _announced(request) > limit or request.META.get(CUT):
        raise _too_large(limit)


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"The body is larger than {limit // 2**20} MiB. Split it.")


def _counted(lines: Iterator[bytes]) -> Iterator[bytes]:
    for number, line in enumerate(lines, start=1):
        if number > MAX_UPLOAD_LINES:
            raise TooLarge(f"The body has more than {MAX_UPLOAD_LINES:,} lines. Split it.")
        yield line


def _split(stream: Any) -> Iterator[bytes]:
    limit, received = strict_json.MAX_BYTES + 1, 0
    line = bytearray()
    while chunk := stream.read(_CHUNK):
        received += len(chunk)
        if received > MAX_UPLOAD_BYTES:
            raise _too_large(MAX_UPLOAD_BYTES)
        *line_ends, beginning = chunk.split(b"\n")
        for end in line_ends:
            yield bytes(line + end[: limit - len(line)])
            line.clear()
        line += beginning[: limit - len(line)]
    if line:
        yield bytes(line)
