"""Rows of `custody_fsck`: the progress of each check, and the damage it has seen."""

from datetime import UTC, datetime

from django.db import models

from accounts.models import Member, Organization
from config.leases import Leased
from config.tenancy import TenantQuerySet

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class Inspection(Leased):
    """Progress of a check of everything that an organization, or else the installation, has in custody."""

    class Runner(models.TextChoices):
        CLOCK = "clock"
        COMMAND = "command"

    runner = models.CharField(max_length=8, choices=Runner.choices)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, null=True, related_name="+")
    stage = models.CharField(max_length=16, blank=True, help_text="Of the check under way; empty before it begins.")
    after = models.CharField(max_length=200, blank=True, help_text="The last item checked in the stage.")
    counts = models.JSONField(default=dict, help_text="How many items passed, by kind.")
    unchecked = models.PositiveIntegerField(default=0, help_text="Items whose store did not answer.")
    began_at = models.DateTimeField(default=LONG_AGO)
    worked_at = models.DateTimeField(default=LONG_AGO)
    finished_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(default=LONG_AGO, help_text="When the clock begins or goes on.")

    objects = TenantQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["runner", "organization"], name="one_inspection_a_runner"),
            models.UniqueConstraint(
                fields=["runner"], condition=models.Q(organization=None), name="one_inspection_of_the_installation"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.runner} of {self.organization_id or 'the installation'}"


class Damage(models.Model):
    """A damaged item in custody. The row is deleted when the item passes again."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, null=True, related_name="+")
    kind = models.CharField(max_length=16)
    name = models.CharField(max_length=200, help_text="Of a record its id.")
    reason = models.CharField(max_length=300)
    found_at = models.DateTimeField(auto_now_add=True)
    seen_at = models.DateTimeField()

    objects = TenantQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "kind", "name"], name="one_row_a_damaged_item"),
            models.UniqueConstraint(
                fields=["kind", "name"], condition=models.Q(organization=None), name="one_row_a_damaged_part"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class DamageAlert(Leased):
    """Mail to a member that something of their organization is damaged."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    handled_at = models.DateTimeField(null=True)

    objects = TenantQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["id"], condition=models.Q(handled_at=None), name="damage_alerts_waiting")]

    def __str__(self) -> str:
        return f"{self.organization_id} to {self.member_id}"
