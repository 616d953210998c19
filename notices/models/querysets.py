from typing import TypeVar

from django.db.models import Model

from config.tenancy import TenantQuerySet

Part = TypeVar("Part", bound=Model, covariant=True)


class NoticePartQuerySet(TenantQuerySet[Part]):
    """The rows of what belongs to a notice, and through it to an organization."""

    organization_path = "notice__organization"
