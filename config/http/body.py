"""Reading request bodies: content type, size, and either one JSON document or a stream of lines."""

from collections.abc import Iterator
from typing import Any

from django.utils.http import parse_header_parameters
from rest_framework.request import Request

from config.errors import DomainError, Invalid
from config.http import strict_json
from config.http.json_responses import JSON
from config.http.messages import CUT, MOST_OF_STRANGERS, STRANGER

NDJSON = "application/x-ndjson"
MAX_UPLOAD_BYTES = 32 * 2**20
MAX_UPLOAD_LINES = 100_000
_CHUNK = 64 * 2**10


class TooLarge(DomainError):
    """There is more of it than is read at once."""

    code, status = "too_large", 413


class UnsupportedType(DomainError):
    """The body is of another content type."""

    code, status = "unsupported_type", 415


def read(request: Request) -> bytes:
    """The raw body of a JSON request.

    Raises:
        Invalid: there is none.
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
    """The lines of an NDJSON upload as they arrive, without their line ends, at most 1 MiB + 1 byte each.

    A longer line is given cut off, so that its reader refuses it by its size; the rest of it is skipped.

    A file without lines is a batch of no records, and no mistake.

    Raises:
        Invalid: there is no body, and nothing says that it would be such a file.
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
            raise _missing()  # of which type nothing is does not matter
        raise UnsupportedType(f"Send the body as Content-Type: {expected} in UTF-8.")


def _has_bytes(request: Request) -> bool:
    return bool(_stream(request).read(1)) if _is_chunked(request) else _announced(request) > 0


def _missing() -> Invalid:
    return Invalid([{"type": "missing", "loc": ["body"], "msg": "Field required"}])


def _stream(request: Request) -> Any:
    # Django reads a body without Content-Length as empty; the server has undone the chunks already.
    return request.META["wsgi.input"] if _is_chunked(request) else request._request


def _is_chunked(request: Request) -> bool:
    return "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower()


def _announced(request: Request) -> int:
    length = request.META.get("CONTENT_LENGTH") or "0"
    return int(length) if length.isdecimal() else 0


def _refuse_more_than(limit: int, request: Request) -> None:
    if request.META.get(STRANGER):
        raise TooLarge(f"Without credentials, at most {MOST_OF_STRANGERS // 2**10} KiB are read.")
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
    longest, received = strict_json.MAX_BYTES + 1, 0
    line = bytearray()
    while chunk := stream.read(_CHUNK):
        received += len(chunk)
        if received > MAX_UPLOAD_BYTES:
            raise _too_large(MAX_UPLOAD_BYTES)
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            yield bytes(line + end[: longest - len(line)])
            line.clear()
        line += rest[: longest - len(line)]
    if line:
        yield bytes(line)
