from django.db import models

from accounts.models import Organization
from custody.models import Entry

MAX_DECISION_ID = 256


class Decision(models.Model):
    """The index row of a record: what lists, filters and searches need. The record itself is in custody."""

    record = models.OneToOneField(Entry, on_delete=models.PROTECT, primary_key=True, related_name="+")
    organization = models.ForeignKey(Organization, on_delete=models.PROTECT, related_name="+", db_index=False)
    decision_id = models.CharField(max_length=MAX_DECISION_ID)
    kind = models.CharField(max_length=16)
    source = models.CharField(max_length=128)
    received_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    action = models.CharField(max_length=256, blank=True)
    system_name = models.CharField(max_length=256, blank=True)
    system_version = models.CharField(max_length=256, blank=True)
    subject_reference = models.CharField(max_length=256, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "decision_id"], name="one_record_per_decision_id"),
        ]
        indexes = [
            models.Index(fields=["organization", "-received_at", "-record"], name="decisions_newest"),
            models.Index(fields=["organization", "action", "-received_at", "-record"], name="decisions_by_action"),
            models.Index(fields=["organization", "system_name", "-received_at", "-record"], name="decisions_by_system"),
            models.Index(fields=["organization", "decided_at"], name="decisions_by_time"),
        ]

    def __str__(self) -> str:
        return self.decision_id
