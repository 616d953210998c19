"""The bases of what the API reads and answers. They know nothing of views, so that selectors may know them."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field


class RequestBody(BaseModel):
    """A request body: strict types, unknown properties ignored, which the answer then says.

    `private` names the fields whose values neither an error nor a printed form may repeat. `record_in` names one that
    holds a decision record: then the body is read as records are, each number to its last digit, U+0000 allowed.
    """

    model_config = ConfigDict(strict=True)
    private: ClassVar[frozenset[str]] = frozenset()
    record_in: ClassVar[str] = ""

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        return ((name, value) for name, value in super().__repr_args__() if name not in self.private)


Text = Annotated[str, Field(max_length=256, pattern="^[^\\x00]*$")]
"""A filter's value: what a column can hold, and PostgreSQL has no NUL."""


class QueryString(BaseModel):
    """Query parameters: texts that become the annotated types; an unknown one is an error, not a silent no-op."""

    model_config = ConfigDict(extra="forbid")


class Answer(BaseModel):
    """Every answer is an open object: properties may be added within /v1, never changed or removed."""

    model_config = ConfigDict(extra="allow")


class Error(BaseModel):
    """Any other error: one sentence that says what was wrong and how to mend it."""

    detail: str
