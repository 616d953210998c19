"""Lists of JSON items behind an HTTP API, page by page."""

import re
from collections.abc import Iterator
from typing import Any, ClassVar
from urllib.parse import urlsplit

from connectors.kinds.base import Batch, Cursor, Source
from connectors.kinds.http_json.config import Config
from connectors.kinds.http_json.passes import Pass

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}", re.ASCII)
_OURS = {"accept-encoding", "connection", "content-length", "expect", "host", "te", "transfer-encoding", "upgrade"}
_MEANS_A_SECRET = re.compile(r"auth|cookie|token|key|secret|password|signature", re.IGNORECASE)


class HttpJson:
    name: ClassVar = "http_json"
    Config: ClassVar = Config
    secret: ClassVar = "the token, sent as `Authorization: Bearer …` or where a header says `{secret}`"  # noqa: S105

    def check(self, config: Any) -> list[str]:
        return [
            *_url_problems(config.url),
            *(problem for header in config.headers.items() for problem in _header_problems(*header)),
        ]

    def read(self, source: Source[Any], cursor: Cursor) -> Iterator[Batch]:
        yield from Pass(source, cursor).batches()


def _url_problems(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
        is_complete = parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_complete = False
    if not is_complete:
        yield "url: Write the whole address, such as https://api.example.org/decisions."
    elif parts.username is not None or parts.password is not None:
        yield "url: Leave out user and password. They belong in the secret."
    elif parts.fragment:
        yield "url: Leave out what follows the #. It is never sent to the server."


def _header_problems(name: str, value: str) -> Iterator[str]:
    if not _HEADER_NAME.fullmatch(name):
        yield "headers: A header's name has letters, digits and hyphens."
    elif name.lower() in _OURS:
        yield f"headers: {name} is set by the service."
    elif not (value.isascii() and value.isprintable()):
        yield f"headers: The value of {name} may only have printable ASCII characters."
    elif _MEANS_A_SECRET.search(name) and "{secret}" not in value:
        yield f"headers: {name} holds a secret. Write {{secret}} in its place, and reference the secret in secret_ref."


KIND = HttpJson()
