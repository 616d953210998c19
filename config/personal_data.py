"""Personal data in the database: each app declares for each column what it may hold and what a disposal does to it.

A disposal erases by these declarations, docs/personal-data.md is generated from them, and a test requires one for each
column.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import Field, Model, QuerySet


class Fate(StrEnum):
    """The effect of a disposal on a column."""

    EMPTIED = "emptied"
    DELETED = "row deleted"
    RARE = "emptied, unless five other families of the organization share the value"
    AGES = "goes with time"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class Column:
    """A declaration of a column: its content, its fate, and why it may stay."""

    fate: Fate
    holds: str
    note: str = ""


def _of(fate: Fate) -> Callable[..., Column]:
    def column(holds: str, note: str = "") -> Column:
        return Column(fate, holds, note)

    return column


emptied, deleted, rare, ages, retained = map(_of, Fate)
"""Declare a column: what it holds and, unless that is erased at once, why not or when."""

_declared: dict[type[Model], Mapping[str, Column]] = {}


def declare(model: type[Model], /, **columns: Column) -> None:
    """Declare the columns of a model. Apps call this from their `ready()`."""
    _declared[model] = columns


def declared() -> Mapping[type[Model], Mapping[str, Column]]:
    """Return all declarations, by model."""
    return _declared


def of(model: type[Model], fate: Fate) -> list[str]:
    """Return the columns of a model with this fate."""
    return [name for name, column in _declared[model].items() if column.fate is fate]


def erase(rows: QuerySet[Any]) -> None:
    """Delete rows or empty their columns, as their model declares. Apps remove rare and ageing values themselves."""
    if of(rows.model, Fate.DELETED):
        rows.delete()
    else:
        rows.update(**{name: _nothing(rows.model._meta.get_field(name)) for name in of(rows.model, Fate.EMPTIED)})


def _nothing(field: Field) -> Any:
    if field.null:
        return None
    return {} if field.get_internal_type() == "JSONField" else ""
