"""Base classes and types for the parts of a pack."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from notices.packs import conditions
from notices.packs.conditions import Applicability

Authority = Literal["statute", "rule", "guidance", "draft"]
BINDING: Final = ("statute", "rule")

Id = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]
Sentence = Annotated[str, Field(min_length=1)]
Amount = Annotated[int, Field(ge=0, le=3660)]
"""Hours, days or months. No law gives more than ten years of days, and within the bound no date overflows."""
List = Field(default=(), strict=False)


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Conditional(Part):
    applies: str = conditions.ALWAYS

    @field_validator("applies")
    @classmethod
    def _has_known_form(cls, expression: str) -> str:
        conditions.parse(expression)
        return expression

    @cached_property
    def when(self) -> Applicability:
        """`applies`, parsed."""
        return conditions.parse(self.applies)

    def applies_to(
        self, record: Callable[[str], Any], notice: Mapping[str, Any] | None = None, *, requested: bool = False
    ) -> bool:
        """Whether this part applies: see `Applicability.holds`."""
        return self.when.holds(record, notice, requested=requested)
