"""Base models of requests and answers. They do not import views, so selectors may use them."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field


class RequestBody(BaseModel):
    """A request body: types are strict, and unknown properties are ignored and listed in the answer.

    `private` names fields whose values neither an error nor `repr` may contain. `record_in` names the field with a
    decision record. Such a body is read like a record: numbers keep all digits, and U+0000 is allowed.
    """

    model_config = ConfigDict(strict=True)
    private: ClassVar[frozenset[str]] = frozenset()
    record_in: ClassVar[str] = ""

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        return ((name, value) for name, value in super().__repr_args__() if name not in self.private)


Text = Annotated[str, Field(max_length=256, pattern="^[^\\x00]*$")]
"""The value of a filter. PostgreSQL columns cannot hold NUL."""


class QueryString(BaseModel):
    """Query parameters, converted to the annotated types. An unknown one is an error."""

    model_config = ConfigDict(extra="forbid")


class Answer(BaseModel):
    """The base of answers, an open object: within /v1, properties may be added, never changed or removed."""

    model_config = ConfigDict(extra="allow")


class Error(BaseModel):
    """Any other error: one sentence that says what was wrong and how to fix it."""

    detail: str
