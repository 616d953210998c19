from typing import TypeVar

from django.db.models import Model

from config.tenancy import TenantQuerySet

Part = TypeVar("Part", bound=Model, covariant=True)


class NoticePartQuerySet(TenantQuerySet[Part]):
    """Rows that belong to a notice, and through the notice to an organization."""

    organization_path = "notice__organization"
