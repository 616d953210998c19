"""Tenancy: what belongs to an organization is reached through it."""

import uuid
from typing import Self, TypeVar

from django.db.models import Model, QuerySet

T = TypeVar("T", bound=Model, covariant=True)


class TenantQuerySet(QuerySet[T]):
    """The rows of a model that belongs to organizations. `tests/config/test_tenancy.py` lets `objects` be used for
    `for_organization`, `unscoped` and `create` alone."""

    organization_path = "organization"
    """Where the model's organization is, as lookups name it; a subclass of `notice__organization` for what belongs to
    a notice."""

    def for_organization(self, organization: Model | uuid.UUID) -> Self:
        """The rows of one organization."""
        return self.filter(**{self.organization_path: getattr(organization, "pk", organization)})

    def unscoped(self, because: str) -> Self:
        """The rows of every organization: for what serves all of them, or knows a row by what nobody can guess.

        Args:
            because: why, for whoever reads the code; nothing else is done with it.
        """
        del because
        return self.all()


def organization_of(row: Model) -> uuid.UUID | None:
    """The id of the organization that a row belongs to; None if its model belongs to none."""
    rows = type(row)._default_manager.all()
    if not isinstance(rows, TenantQuerySet):
        return None
    *steps, last = rows.organization_path.split("__")
    for step in steps:
        row = getattr(row, step)
    found: uuid.UUID | None = getattr(row, f"{last}_id")
    return found
