"""The base of the back office's pages: an operator sees their own organization, and what their role allows."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from accounts import roles, selectors
from accounts.models import User
from accounts.roles import Permission, Role


class ReadOnlyAdmin(admin.ModelAdmin):
    """Rows of the operator's organization, to look at. Changes are made by services, through pages of their own.

    `needed` is the permission to look; `organization_field` leads from a row to its organization.
    """

    needed: ClassVar[Permission]
    organization_field = "organization"
    show_full_result_count = False
    list_per_page = 50

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows = super().get_queryset(request)
        if isinstance(request.user, User) and request.user.is_superuser:
            return rows
        member = selectors.current_member(request)
        return rows.filter(**{self.organization_field: member.organization_id}) if member else rows.none()

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        if isinstance(request.user, User) and request.user.is_superuser:
            return True
        member = selectors.current_member(request)
        return member is not None and roles.allows(Role(member.role), self.needed)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
