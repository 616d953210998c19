"""Prohibited bases of decisions, by law."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from notices.sensitive.bases import basis_ids


class Prohibition(BaseModel):
    """One law, and the bases that it prohibits. No letter prints a field about such a basis as information used."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    citation: Annotated[str, Field(min_length=1)]
    source: Annotated[str, Field(min_length=1)]
    bases: Annotated[tuple[str, ...], Field(strict=False, min_length=1)]
    """Ids of `notices/sensitive/bases.toml`."""

    @field_validator("bases")
    @classmethod
    def _are_known(cls, bases: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := sorted({*bases} - basis_ids()):
            raise ValueError(f"there is no basis {unknown[0]!r}, only {', '.join(sorted(basis_ids()))}")
        return bases
