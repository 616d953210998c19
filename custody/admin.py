from django.contrib import admin

from accounts.back_office import ReadOnlyAdmin
from accounts.roles import Permission
from custody.models import Entry, Key


@admin.register(Entry)
class EntryAdmin(ReadOnlyAdmin):
    needed = Permission.READ_DECISIONS
    list_display = ("record_id", "kind", "state", "vault", "received_at")
    fields = (*list_display, "key_id")
    list_filter = ("state", "vault", "kind")
    ordering = ("-received_at",)


@admin.register(Key)
class KeyAdmin(ReadOnlyAdmin):
    needed = Permission.READ_DECISIONS
    list_display = ("purpose", "algorithm", "key_id", "created_at", "retired_at")
    fields = (*list_display, "public_pem")
