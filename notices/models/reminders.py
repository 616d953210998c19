from django.db import models

from accounts.models import Member
from config.leases import Leased
from config.tenancy import TenantQuerySet


class ReminderQuerySet(TenantQuerySet["Reminder"]):
    organization_path = "member__organization"


class Reminder(Leased):
    """A day's mail to one member about notices that are late or due soon."""

    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="+")
    day = models.DateField()
    handled_at = models.DateTimeField(null=True)

    objects = ReminderQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["member", "day"], name="one_reminder_a_day")]

    def __str__(self) -> str:
        return f"reminder of {self.day}"
