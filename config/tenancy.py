"""Tenancy: rows of an organization are queried through that organization."""

import uuid
from typing import Self, TypeVar

from django.db.models import Model, QuerySet

T = TypeVar("T", bound=Model, covariant=True)


class TenantQuerySet(QuerySet[T]):
    """Rows of a model that belongs to organizations.

    `tests/config/test_tenancy.py` allows only `for_organization`, `unscoped` and `create` on `objects`.
    """

    organization_path = "organization"
    """Lookup path to the organization. A subclass sets another, for example `notice__organization`."""

    def for_organization(self, organization: Model | uuid.UUID) -> Self:
        """Return the rows of one organization."""
        return self.filter(**{self.organization_path: getattr(organization, "pk", organization)})

    def unscoped(self, because: str) -> Self:
        """Return the rows of all organizations, for work that serves all or identifies a row by an unguessable value.

        Args:
            because: the reason, for readers of the code. It is not used.
        """
        del because
        return self.all()


def organization_of(row: Model) -> uuid.UUID | None:
    """Return the id of a row's organization, or None if its model belongs to none."""
    rows = type(row)._default_manager.all()
    if not isinstance(rows, TenantQuerySet):
        return None
    *steps, last = rows.organization_path.split("__")
    for step in steps:
        row = getattr(row, step)
    organization_id: uuid.UUID | None = getattr(row, f"{last}_id")
    return organization_id
