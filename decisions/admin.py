from django.contrib import admin

from accounts.back_office import ReadOnlyAdmin
from accounts.roles import Permission
from decisions.models import Decision


@admin.register(Decision)
class DecisionAdmin(ReadOnlyAdmin):
    needed = Permission.READ_DECISIONS
    list_display = ("decision_id", "action", "kind", "system_name", "subject_reference", "decided_at", "received_at")
    fields = (*list_display, "system_version", "source", "record")
    search_fields = ("decision_id", "subject_reference")
    ordering = ("-received_at", "-pk")
