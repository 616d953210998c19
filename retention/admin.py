from django.contrib import admin

from accounts.roles import Permission
from retention.models import Policy
from retention.subject_pages import SubjectPages


@admin.register(Policy)
class PolicyAdmin(SubjectPages):
    needed = Permission.READ_DECISIONS
