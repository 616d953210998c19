"""A client of an HTTP API, and its bounded responses."""

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import requests

from connectors import formats
from connectors.formats import Item
from connectors.formats.compression import BadGzip, expanded
from connectors.formats.scanner import BOM, WHITE_SPACE
from connectors.kinds.base import Source, SourceFault
from connectors.kinds.batch_bounds import PAGE_BYTES
from connectors.kinds.faults import busy, connections, step

_USER_AGENT = "decision-record-service"
_LINES = ("ndjson", "jsonl", "json-lines", "json-seq")
_CHUNK = 64 * 2**10
_DEEPEST = 1000
_STRING = rb'"(?:[^"\\]++|\\.)*+"'
# `(?!)` as in connectors/formats/scanner.py.
_FLAT = rb'(?:[^"\[\]{}]++|%s|(?!))*+' % _STRING
_WITHIN = re.compile(rb'(?:[^"\[\]{}]++|%b|\[%b\]|\{%b\}|(?!))*+' % (_STRING, _FLAT, _FLAT), re.DOTALL)
"""The text up to a bracket that opens more than one level, or closes one."""


class Gone(SourceFault):
    """The page does not exist, or its token has expired."""


class Response:
    """A page, whose items are cut out of the body one at a time.

    Args:
        deadline: by `time.monotonic()`, for scanning the body.
        is_unchanged: whether the source answered 304: there are headers and no body.
    """

    def __init__(
        self, url: str, headers: Mapping[str, str], body: bytes, deadline: float, *, is_unchanged: bool = False
    ) -> None:
        self.url, self.headers, self.body, self._deadline = url, headers, body.removeprefix(BOM), deadline
        self.is_unchanged = is_unchanged

    def value(self, pointer: str) -> Any:
        """Return the text, number or literal at a JSON pointer, or None if the pointer leads nowhere.

        Raises:
            ValueError: the value is an object or array.
        """
        raw = formats.values_at(self.body, [pointer]).get(pointer)
        return None if raw is None else _scalar(raw)

    def listed(self, config: Any) -> bytes:
        """Return the bytes of the list, or the whole body if it is the list or has none."""
        if not config.items or config.format == "ndjson":
            return self.body
        return formats.values_at(self.body, [config.items]).get(config.items, self.body)

    def items(self, config: Any, name: str) -> Iterator[Item]:
        """Return the items, cut out one by one.

        Args:
            name: the page, for the positions of its items.

        Raises:
            SourceFault: before the first item.
        """
        if not self.body.strip():
            return iter(())
        if config.format == "ndjson" or any(word in self.headers.get("Content-Type", "") for word in _LINES):
            self._require_whole_lines()
            return formats.items(self._chunks(), "ndjson", name)
        self._require_json()
        if config.format == "json" and not config.items:
            return formats.items(self._chunks(), "json", name)
        listed = formats.items_at(self.body, config.items, name)
        if listed is None:
            where = f"at {config.items}" if config.items else "at the top"
            raise SourceFault(
                f"The answer has no list {where}.", fix="Set items to the JSON pointer of the list, such as /data."
            )
        return listed

    def _chunks(self) -> Iterator[bytes]:
        return (self.body[start : start + _CHUNK] for start in range(0, len(self.body), _CHUNK))

    def _require_json(self) -> None:
        if not _is_whole(self.body, self._deadline):
            raise SourceFault(
                "The answer is not JSON.", fix="Check the url: it must lead to the API, not to a page for people."
            )

    def _require_whole_lines(self) -> None:
        """Raise SourceFault if the answer was cut off within a line. A complete last line may lack its line end."""
        last = self.body[self.body.rfind(b"\n") + 1 :]
        if last.strip() and not _is_whole(last, self._deadline):
            raise SourceFault(
                "The answer ends in the middle of a line.",
                fix="No action needed; it will be retried. If it persists, contact the source's operator.",
                cause="transient",
            )


class Client:
    """A client that requests pages with the connector's credentials."""

    def __init__(self, source: Source[Any]) -> None:
        self._source = source
        self._session = connections(source).session()
        secret = source.secret()
        self._has_secret = bool(secret)
        self._headers = {"User-Agent": _USER_AGENT, "Accept": "application/json", **_with_secret(source, secret)}

    def get(self, url: str, validators: Mapping[str, str]) -> Response:
        """Request a page.

        Args:
            validators: headers that ask for the page only if it has changed.

        Raises:
            SourceFault; Gone among them.
        """
        with step(self._source, "answered", "The source answers."), self._asked(url, validators) as response:
            status, headers = response.status_code, response.headers
            body = _body(response) if _is_success(status) else b""  # the body of a refusal is not used
        is_unchanged = status == 304 and bool(validators)
        if not is_unchanged:
            self._require_success(status, headers)
        if self._has_secret:
            with self._source.step("signed in", "The source accepts the credentials."):
                pass
        return Response(url, headers, body, self._source.deadline, is_unchanged=is_unchanged)

    def _require_success(self, status: int, headers: Mapping[str, str]) -> None:
        """Raise SourceFault for a refusal. The caller reports success of the step `listed`, once it has read a list."""
        fault = _refused_credentials(status, were_sent=self._has_secret)
        name = "signed in" if fault else "listed"
        fault = fault or _refusal(status, headers)
        if fault:
            with self._source.step(name, ""):
                raise fault

    @contextmanager
    def _asked(self, url: str, validators: Mapping[str, str]) -> Iterator[requests.Response]:
        headers = {**self._headers, **validators, "Accept-Encoding": "gzip"}
        with self._session.get(url, headers=headers, stream=True, allow_redirects=False) as response:
            yield response


def _with_secret(source: Source[Any], secret: str) -> dict[str, str]:
    """Return the headers of the settings, with the secret filled in."""
    headers: dict[str, str] = dict(source.config.headers)
    has_place = any("{secret}" in value for value in headers.values())
    if not (secret.isascii() and (secret.isprintable() or not secret)):
        with source.step("signed in", ""):
            raise SourceFault(
                "The secret cannot be sent in a header.",
                fix="It may only have printable ASCII characters, in one line.",
            )
    if has_place and not secret:
        with source.step("signed in", ""):
            raise SourceFault("A header asks for a secret, and there is none.", fix="Name the secret in secret_ref.")
    if secret and not has_place:
        headers["Authorization"] = "Bearer {secret}"
    return {name: value.replace("{secret}", secret) for name, value in headers.items()}


def _body(response: requests.Response) -> bytes:
    body = bytearray()
    try:
        for chunk in expanded(response.iter_content(64 * 2**10)):
            body += chunk
            if len(body) > PAGE_BYTES:
                raise SourceFault(
                    f"A page of the source is larger than {PAGE_BYTES // 2**20} MiB.",
                    fix="Ask for smaller pages, with a parameter in the url.",
                )
    except BadGzip as error:
        raise SourceFault(error.sentence, fix="Contact the source's operator.", because="of a page") from None
    return bytes(body)


def _is_success(status: int) -> bool:
    return 200 <= status < 300


def _refused_credentials(status: int, *, were_sent: bool) -> SourceFault | None:
    if status not in (401, 403):
        return None
    if not were_sent:
        return SourceFault("The source asks for credentials.", fix="Name the secret in secret_ref.")
    if status == 401:
        return SourceFault(
            "The source does not accept the credentials.",
            fix="Check the secret behind secret_ref, and the header that it is sent in.",
        )
    return SourceFault(
        "The credentials do not allow this.", fix="Ask the source's operator for permission to read the list."
    )


def _refusal(status: int, headers: Mapping[str, str]) -> SourceFault | None:
    if _is_success(status):
        return None
    if status == 304:
        return SourceFault(
            "The source answers that its list has not changed (HTTP 304), although the request had no conditions.",
            fix="Remove If-None-Match and If-Modified-Since from headers, or contact the source's operator.",
        )
    if status < 400:
        return SourceFault(
            "The source redirects to another address, which is not followed.",
            fix="Set url to the address that it redirects to.",
        )
    if status == 429:
        return busy("The source asks for fewer requests.", headers.get("Retry-After"))
    if status >= 500 or status == 408:
        return busy(f"The source has an internal error (HTTP {status}).", headers.get("Retry-After"))
    if status in (400, 404, 410, 416, 422):
        return Gone(f"The source does not know this address or its parameters (HTTP {status}).", fix="Check the url.")
    return SourceFault(f"The source refuses the request (HTTP {status}).", fix="Check the url and headers.")


def _is_whole(document: bytes, deadline: float) -> bool:
    """Whether all brackets and strings of a document close, and nothing follows. Values are not checked.

    Raises:
        SourceFault: the deadline passed.
    """
    document = document.strip(WHITE_SPACE)
    if not document.startswith((b"[", b"{")):
        return _is_scalar(document)
    closing, position = bytearray(), 0
    while time.monotonic() < deadline:
        position = _WITHIN.match(document, position).end() if closing else 0  # type: ignore[union-attr]
        byte = document[position : position + 1]
        position += 1
        if byte in (b"[", b"{"):
            closing += b"]" if byte == b"[" else b"}"
        elif not byte or byte[0] != closing.pop():
            return False
        if not closing or len(closing) > _DEEPEST:
            return not closing and position == len(document)
    raise SourceFault(
        "There was not enough time to look through a page.",
        fix="Ask for smaller pages, with a parameter in the url.",
        cause="transient",
    )


def _is_scalar(document: bytes) -> bool:
    try:
        _scalar(document)
    except ValueError:
        return False
    return True


def _scalar(document: bytes) -> Any:
    """Return a text, number or literal. Fractions and long numbers stay text. Raises ValueError."""
    if document.startswith((b"[", b"{")) or len(document) > _CHUNK:
        raise ValueError
    return json.loads(document.decode(), parse_int=_integer, parse_float=str, parse_constant=str)


def _integer(text: str) -> int | str:
    return int(text) if len(text) < 20 else text
