"""Scope of a law: decisions by the system's part in them, by their day, and by country."""

from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Country = Annotated[str, Field(pattern=r"^[A-Z]{2}$")]


class Scope(BaseModel):
    """The table `[scope]` of a pack."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    automation: Literal["any", "involved", "solely"] = "any"
    """The system's part in the decisions that the law covers: any, some, or all of the decision."""
    merely_following: str = ""
    """The citation that a person who only follows the system's result makes no decision of their own; "" if no such
    text of this law was read."""
    human_counts: str = ""
    """The flag of a record that says whether a person's part counts as a human decision under this law; "" for none."""
    rights_from: date | None = None
    """The first day of decisions with the rights in the pack's texts; None if an earlier law gave them, too."""
    national_law: dict[Country, str] = {}
    """For a directive: by country (ISO 3166-1), the law that transposes it; "" if that was not read."""

    def gives_rights(self, on: date) -> bool:
        """Whether a decision of that day has the rights in the pack's texts."""
        return self.rights_from is None or self.rights_from <= on
