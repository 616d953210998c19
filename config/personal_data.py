"""What the database keeps about persons: each app says of each column of its models what it may hold and what the
disposal of records does to it.

A disposal erases by these declarations, docs/personal-data.md is written from them, and a test lets no column go
without one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import Field, Model, QuerySet


class Fate(StrEnum):
    """What a disposal does to a column."""

    EMPTIED = "emptied"
    DELETED = "row deleted"
    RARE = "emptied, unless five other families of the organization share the value"
    AGES = "goes with time"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class Column:
    """What a column may hold, what becomes of it, and why it may stay."""

    fate: Fate
    holds: str
    note: str = ""


def _of(fate: Fate) -> Callable[..., Column]:
    def column(holds: str, note: str = "") -> Column:
        return Column(fate, holds, note)

    return column


emptied, deleted, rare, ages, kept = map(_of, Fate)
"""Declarations of columns: what they hold and, where it does not go at once, why not or when."""

_declared: dict[type[Model], Mapping[str, Column]] = {}


def declare(model: type[Model], /, **columns: Column) -> None:
    """Say what a model keeps; apps call this from their `ready()`."""
    _declared[model] = columns


def declared() -> Mapping[type[Model], Mapping[str, Column]]:
    """All that is declared, by model."""
    return _declared


def of(model: type[Model], fate: Fate) -> list[str]:
    """The columns of a model with this fate."""
    return [name for name, column in _declared[model].items() if column.fate is fate]


def erase(rows: QuerySet[Any]) -> None:
    """Do to rows what their model's columns declare: delete the rows, or empty columns. What goes where it is
    rare, or with time, is for its app to remove."""
    if of(rows.model, Fate.DELETED):
        rows.delete()
    else:
        rows.update(**{name: _nothing(rows.model._meta.get_field(name)) for name in of(rows.model, Fate.EMPTIED)})


def _nothing(field: Field) -> Any:
    if field.null:
        return None
    return {} if field.get_internal_type() == "JSONField" else ""
