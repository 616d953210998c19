"""Which decisions a law is about: by the part that a system had in them, by their day, and by country."""

from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Country = Annotated[str, Field(pattern=r"^[A-Z]{2}$")]


class Scope(BaseModel):
    """The table `[scope]` of a pack."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    automation: Literal["any", "involved", "solely"] = "any"
    """The part of a system in the decisions that the law is about: none at all, some, or all of it."""
    merely_following: str = ""
    """What says that a person who only follows the system's result makes no decision of their own; "" where nothing of
    this law was read that does."""
    human_counts: str = ""
    """The flag of a record that says whether this law takes a person's part for a decision of theirs; "" for none."""
    rights_from: date | None = None
    """Decisions before this day have none of the rights that the pack's texts tell of; None where an earlier law gave
    them too."""
    national_law: dict[Country, str] = {}
    """Of a directive: by country (ISO 3166-1), the law that transposes it; "" where it was not read."""

    def gives_rights(self, on: date) -> bool:
        """Whether the rights that the pack's texts tell of are there for a decision of that day."""
        return self.rights_from is None or self.rights_from <= on
