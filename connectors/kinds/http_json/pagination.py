"""From one page of an API to the next, each way that its settings know.

A place is part of the cursor: None is the first page.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

import requests

from connectors.kinds.base import SourceFault
from connectors.kinds.http_json.answers import Response
from connectors.kinds.http_json.config import Link, Numbered, Offset, Pagination, Token

Place = str | int | None


class Pages(ABC):
    """How a source is gone through."""

    ends_with_not_found: ClassVar = False
    """Whether some sources answer 404 to what comes after the last page."""
    places: ClassVar[tuple[type, ...]] = ()
    """What a place can be. A cursor may be older than the settings."""

    @abstractmethod
    def url(self, url: str, place: Place) -> str:
        """The address of a page, of which `url` is the first."""

    def name(self, place: Place, number: int) -> str:
        """The page in the words of people who look for it; `number` counts the pages of this poll from 1."""
        return f"page {number}"

    @abstractmethod
    def next(self, response: Response, place: Place, count: int) -> Place:
        """The place after a page of so many items; None if that was the last one. Raises SourceFault."""


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

    def next(self, response: Response, place: Place, count: int) -> Place:
        return None


class _Linked(Pages):
    places = (str,)

    def __init__(self, pagination: Link) -> None:
        self._pointer = pagination.next

    def url(self, url: str, place: Place) -> str:
        """A link to another host, kept from other settings, gets no credentials of these."""
        return url if place is None or _origin(str(place)) != _origin(url) else str(place)

    def next(self, response: Response, place: Place, count: int) -> Place:
        if self._pointer is None:
            links = requests.utils.parse_header_links(response.headers.get("Link", ""))
            target = next((link["url"] for link in links if "next" in link.get("rel", "").lower().split()), None)
        else:
            target = response.value(self._pointer)
        if target in (None, "", False):
            return None
        found = urljoin(response.url, str(target))
        if _origin(found) != _origin(response.url):
            raise SourceFault(
                "The next page is at another host, which gets no credentials of this one.",
                fix="Ask the source's operator for links to its own host.",
            )
        return found


class _WithTokens(Pages):
    places = (str, int)

    def __init__(self, pagination: Token) -> None:
        self._pagination = pagination

    def url(self, url: str, place: Place) -> str:
        return url if place is None else with_parameter(url, self._pagination.parameter, place)

    def next(self, response: Response, place: Place, count: int) -> Place:
        token = response.value(self._pagination.next)
        if token in (None, "", False):
            return None
        if not isinstance(token, str | int):
            raise SourceFault("The value at pagination.next is not a token.", fix="Check pagination.next.")
        return token


class _Numbered(Pages):
    ends_with_not_found = True
    places = (int,)

    def __init__(self, pagination: Numbered) -> None:
        self._pagination = pagination

    def url(self, url: str, place: Place) -> str:
        return with_parameter(url, self._pagination.parameter, self._number(place))

    def name(self, place: Place, number: int) -> str:
        """The source's own number, by which it can be asked for."""
        return f"page {self._number(place)}"

    def next(self, response: Response, place: Place, count: int) -> Place:
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

    def next(self, response: Response, place: Place, count: int) -> Place:
        return int(place or 0) + count if count else None


def _origin(url: str) -> tuple[Any, ...]:
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname, parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    except ValueError:
        return (None,)
