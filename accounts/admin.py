from django.contrib import admin
from django.contrib.auth import admin as _registers_its_models  # noqa: F401
from django.contrib.auth.models import Group

from accounts.back_office import ReadOnlyAdmin
from accounts.models import ApiKey, AuditEvent, Invite, Member
from accounts.roles import Permission

admin.site.site_header = admin.site.site_title = "Decision-Record Service"
admin.site.index_title = "Back office"
admin.site.unregister(Group)  # what people may do comes from accounts.roles


@admin.register(Member)
class MemberAdmin(ReadOnlyAdmin):
    needed = Permission.MANAGE_MEMBERS
    list_display = ("user", "role", "created_at")
    list_select_related = ("user",)
    fields = ("user", "role", "created_at")


@admin.register(Invite)
class InviteAdmin(ReadOnlyAdmin):
    needed = Permission.MANAGE_MEMBERS
    list_display = ("email", "role", "created_by", "created_at", "expires_at", "accepted_at", "revoked_at")
    fields = list_display


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnlyAdmin):
    needed = Permission.MANAGE_KEYS
    list_display = ("name", "key_id", "role", "created_by", "created_at", "last_used_at", "expires_at", "revoked_at")
    fields = list_display


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    needed = Permission.READ_AUDIT
    list_display = ("at", "verb", "actor_kind", "actor_label", "object_kind", "object_id")
    fields = (*list_display, "actor_id", "detail")
    list_filter = ("verb",)
    ordering = ("-at", "-pk")
