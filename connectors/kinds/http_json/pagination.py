"""Ways from one page of an API to the next.

A place is part of the cursor: None is the first page.
"""

import re
from abc import ABC, abstractmethod
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

import requests
from urllib3.util import parse_url

from connectors.kinds.base import SourceFault
from connectors.kinds.http_json.answers import Response
from connectors.kinds.http_json.config import Link, Numbered, Offset, Pagination, Token

Place = str | int | None
_PORTS = {"https": 443, "http": 80}
_DOUBTFUL = re.compile(r"[\s\\\x00-\x1f\x7f-\x9f]")
"""Characters that address parsers skip, replace or read as a slash, each parser differently."""


class Pages(ABC):
    """A way through the pages of a source."""

    ends_with_not_found: ClassVar = False
    """Whether some sources answer 404 after the last page."""
    places: ClassVar[tuple[type, ...]] = ()
    """The types of a place. A cursor may be older than the settings."""

    @abstractmethod
    def url(self, url: str, place: Place) -> str:
        """Return the address of a page. `url` is the address of the first page."""

    def name(self, place: Place, number: int) -> str:
        """Return the page's name for people. `number` counts the pages of this poll from 1."""
        return f"page {number}"

    def named(self, response: Response) -> Place:
        """Return the next place that the answer names, if any. Raises SourceFault: it is malformed."""
        return None

    def next(self, place: Place, named: Place, count: int) -> Place:
        """Return the place after a page with `count` items that named the place `named`; None after the last page."""
        return named

    def is_last(self, place: Place, named: Place, count: int) -> bool:
        """Whether the list ended at a page, so that the page gets a next one when the list grows."""
        return self.next(place, named, count) in (None, place)


def pages(pagination: Pagination | None) -> Pages:
    match pagination:
        case Link():
            return _Linked(pagination)
        case Token():
            return _WithTokens(pagination)
        case Numbered():
            return _Numbered(pagination)
        case Offset():
            return _WithOffsets(pagination)
        case None:
            return _OnePage()


def with_parameter(url: str, name: str, value: str | int) -> str:
    parts = urlsplit(url)
    query = [(key, text) for key, text in parse_qsl(parts.query, keep_blank_values=True) if key != name]
    return urlunsplit(parts._replace(query=urlencode([*query, (name, value)])))


class _OnePage(Pages):
    def url(self, url: str, place: Place) -> str:
        return url

    def name(self, place: Place, number: int) -> str:
        return "the answer"

    def is_last(self, place: Place, named: Place, count: int) -> bool:
        return False


class _Linked(Pages):
    places = (str,)

    def __init__(self, pagination: Link) -> None:
        self._pointer = pagination.next

    def url(self, url: str, place: Place) -> str:
        """Return the link, or the first page if a cursor of older settings links to another host."""
        return str(place) if place is not None and _have_one_origin(str(place), url) else url

    def named(self, response: Response) -> Place:
        target = self._target(response)
        if target in (None, "", False):
            return None
        try:
            address = _joined(response.url, target)
        except ValueError:
            raise SourceFault(
                "The link to the next page is malformed.",
                fix="Check pagination.next, and ask the source's operator for links as RFC 3986 has them.",
            ) from None
        if not _have_one_origin(address, response.url):
            raise SourceFault(
                "The next page is at another host, which gets no credentials of this one.",
                fix="Ask the source's operator for links to its own host.",
            )
        return address

    def _target(self, response: Response) -> Any:
        if self._pointer is not None:
            return _named_at(self._pointer, response)
        links = requests.utils.parse_header_links(response.headers.get("Link", ""))
        return next((link["url"] for link in links if "next" in link.get("rel", "").lower().split()), None)


class _WithTokens(Pages):
    places = (str, int)

    def __init__(self, pagination: Token) -> None:
        self._pagination = pagination

    def url(self, url: str, place: Place) -> str:
        return url if place is None else with_parameter(url, self._pagination.parameter, place)

    def named(self, response: Response) -> Place:
        token: Place = _named_at(self._pagination.next, response)
        return None if token in ("", False) else token


class _Numbered(Pages):
    ends_with_not_found = True
    places = (int,)

    def __init__(self, pagination: Numbered) -> None:
        self._pagination = pagination

    def url(self, url: str, place: Place) -> str:
        return with_parameter(url, self._pagination.parameter, self._number(place))

    def name(self, place: Place, number: int) -> str:
        """Return the page with the number that the source gives it."""
        return f"page {self._number(place)}"

    def next(self, place: Place, named: Place, count: int) -> Place:
        return self._number(place) + 1 if count else None

    def _number(self, place: Place) -> int:
        return int(self._pagination.first if place is None else place)


class _WithOffsets(Pages):
    ends_with_not_found = True
    places = (int,)

    def __init__(self, pagination: Offset) -> None:
        self._pagination = pagination

    def url(self, url: str, place: Place) -> str:
        return with_parameter(url, self._pagination.parameter, place or 0)

    def name(self, place: Place, number: int) -> str:
        return f"offset {place or 0}"

    def next(self, place: Place, named: Place, count: int) -> Place:
        return int(place or 0) + count if count else None


def _named_at(pointer: str, response: Response) -> Any:
    try:
        return response.value(pointer)
    except ValueError:
        raise SourceFault(
            "What is at pagination.next is neither a token nor a link.", fix="Check pagination.next."
        ) from None


def _joined(url: str, target: Any) -> str:
    """Return the absolute address of a link. Raises ValueError: the link is malformed or ambiguous."""
    if not isinstance(target, str) or _DOUBTFUL.search(target):
        raise ValueError
    address = urljoin(url, target)
    parse_url(address)
    return address


def _have_one_origin(url: str, other: str) -> bool:
    origin = _origin(url)
    return origin is not None and origin == _origin(other)


def _origin(url: str) -> tuple[Any, ...] | None:
    """Return the scheme, host and port that a request goes to, or None if they are ambiguous.

    The HTTP library parses addresses differently from Python, so both parsers must agree.
    """
    try:
        ours, theirs = urlsplit(url), parse_url(url)
        origins = [
            (parts.scheme, (parts.hostname or "").strip("[]").lower(), parts.port or _PORTS.get(parts.scheme or ""))
            for parts in (ours, theirs)
        ]
    except ValueError:
        return None
    return origins[0] if origins[0] == origins[1] and "@" not in ours.netloc and theirs.auth is None else None
