"""Settings of an HTTP API."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from connectors.kinds.base import KindConfig
from connectors.maps import Pointer

Parameter = Annotated[str, Field(min_length=1, max_length=128)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Link(_Part):
    """Pages that name the next page, in the `Link` header (RFC 8288) or at a JSON pointer."""

    kind: Literal["link"]
    next: Pointer | None = None


class Token(_Part):
    """Pages that have a token for the next request at a JSON pointer."""

    kind: Literal["token"]
    next: Pointer
    parameter: Parameter


class Numbered(_Part):
    """Numbered pages."""

    kind: Literal["page"]
    parameter: Parameter = "page"
    first: Annotated[int, Field(ge=0, le=1)] = 1


class Offset(_Part):
    """Requests that say how many items to skip."""

    kind: Literal["offset"]
    parameter: Parameter = "offset"


Pagination = Annotated[Link | Token | Numbered | Offset, Field(discriminator="kind")]


class Since(_Part):
    """A parameter that makes the source leave out old items."""

    parameter: Parameter
    field: Pointer
    """The JSON pointer in an item to the value that the parameter compares: a time (RFC 3339), or a number."""
    lag: Annotated[int, Field(ge=0, le=30 * 86400)] = 300
    """How far before the highest value seen to ask again: seconds for a time, or the same difference for numeric
    values."""


class Config(KindConfig, use_attribute_docstrings=True):
    url: Annotated[str, Field(min_length=1, max_length=2048)]
    """Enter the address of the first page."""
    items: Pointer = ""
    """Enter the JSON pointer to the list in an answer, such as /data. Leave it blank if the answer is the list."""
    pagination: Pagination | None = None
    """Say how to get the next page, such as {"kind": "token", "next": "/next", "parameter": "page"}."""
    since: Since | None = None
    """Say how to ask only for new items, such as {"parameter": "after", "field": "/updated_at"}."""
    headers: Annotated[dict[str, str], Field(max_length=32)] = {}
    """Enter headers to send with each request, such as {"X-Api-Key": "{secret}"}. The secret replaces {secret}."""
