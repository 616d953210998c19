"""Base models of requests and answers. They do not import views, so selectors may use them."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Self

from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field


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

    model_config = ConfigDict(extra="allow", from_attributes=True, hide_input_in_errors=True)

    @classmethod
    def of(cls, source: object, **more: Any) -> Self:
        """Return the answer about an object, such as a row: the attributes that the fields name, and no others.

        Select related rows beforehand: pydantic would report a database error while it reads an attribute as a
        `ValidationError`, which is not answered as an outage.

        Args:
            more: attributes that the object lacks.
        """
        return cls.model_validate(_Extended(source, more) if more else source)


class _Extended:
    """An object with more attributes."""

    def __init__(self, source: object, more: dict[str, Any]) -> None:
        self._source = source
        self.__dict__ |= more

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)


Id = Annotated[str, BeforeValidator(str)]
"""An identifier that the database keeps as a number or a UUID."""

TextOrNull = Annotated[str | None, BeforeValidator(lambda text: text or None)]
"""A column in which "" means none."""

SAME_OBJECT = AliasPath("__str__", "__self__")
"""The alias of a part whose fields are attributes of the whole: a method knows its object."""


class Error(BaseModel):
    """Any other error: one sentence that says what was wrong and how to fix it."""

    detail: str
