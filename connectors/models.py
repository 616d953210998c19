import uuid
from typing import Any

from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import Member, Organization
from config.leases import Leased
from config.tenancy import TenantQuerySet

MAX_NAME = 128
MIN_SCHEDULE, MAX_SCHEDULE = 30, 86_400
MAX_POSITION = 512
MAX_LEDGER_NAME = 1024
"""Characters of the name of an object or file."""


class Kind(models.TextChoices):
    S3 = "s3", _("Amazon S3")
    GCS = "gcs", _("Google Cloud Storage")
    AZURE_BLOB = "azure_blob", _("Azure Blob Storage")
    HTTP_JSON = "http_json", _("HTTP API")
    POSTGRES = "postgres", _("PostgreSQL")
    DIRECTORY = "directory", _("Folder")


class ConnectorQuerySet(TenantQuerySet["Connector"]):
    def due(self) -> "ConnectorQuerySet":
        """Return the connectors whose next poll is due, even if a worker already polls them."""
        return self.filter(next_poll_at__lte=timezone.now())

    def silent(self) -> "ConnectorQuerySet":
        """Return the connectors that are polled but have stopped bringing records."""
        return self.filter(silent_at__lte=timezone.now()).exclude(next_poll_at=None)


class Connector(Leased):
    """A source of decision records, polled on its own schedule.

    A poll holds the connector's lease. It writes the cursor only if the lease's token and the `version` of its settings
    are unchanged, so an overtaken poll cannot overwrite a reset with an old cursor.
    """

    source_id = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.PROTECT, related_name="+", db_index=False)
    kind = models.CharField(max_length=16, choices=Kind.choices)
    name = models.CharField(max_length=MAX_NAME)
    config = models.JSONField(default=dict)
    secret_ref = models.CharField(max_length=160, blank=True)
    schedule_seconds = models.PositiveIntegerField(default=300)
    enabled = models.BooleanField(default=True)
    version = models.PositiveIntegerField(default=1)
    problems = models.JSONField(default=list, help_text="What is wrong with the settings; empty for none.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=300)

    cursor = models.JSONField(default=dict)
    next_poll_at = models.DateTimeField(
        null=True, help_text="Empty while it is disabled, stopped, or has problems: then it is not polled."
    )
    failures = models.PositiveIntegerField(default=0, help_text="Polls in a row that failed.")
    stopped_at = models.DateTimeField(null=True)
    stopped_because = models.CharField(max_length=1000, blank=True)

    seen = models.PositiveBigIntegerField(default=0)
    new = models.PositiveBigIntegerField(default=0)
    repeated = models.PositiveBigIntegerField(default=0)
    quarantined = models.PositiveBigIntegerField(default=0)
    caught_up_at = models.DateTimeField(null=True, help_text="When it was last read to its end.")
    newest_item_at = models.DateTimeField(null=True, help_text="Of the newest item read, where the source tells.")
    last_new_at = models.DateTimeField(null=True, help_text="When the last new record came.")
    longest_gap_seconds = models.PositiveBigIntegerField(default=0)
    silent_at = models.DateTimeField(null=True, help_text="When it counts as silent, unless a new record comes.")

    objects = ConnectorQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=Kind.values), name="connectors_of_known_kinds"),
            models.CheckConstraint(condition=~Q(name=""), name="connectors_have_names"),
            models.CheckConstraint(
                condition=Q(schedule_seconds__gte=MIN_SCHEDULE, schedule_seconds__lte=MAX_SCHEDULE),
                name="connector_schedules_are_bounded",
            ),
            models.CheckConstraint(
                condition=Q(next_poll_at=None) | Q(enabled=True, stopped_at=None),
                name="only_running_connectors_are_due",
            ),
            models.CheckConstraint(
                condition=Q(stopped_at=None, stopped_because="")
                | (Q(stopped_at__isnull=False) & ~Q(stopped_because="")),
                name="stopped_connectors_say_why",
            ),
            models.CheckConstraint(
                condition=Q(seen__gte=F("new") + F("repeated")), name="records_of_connectors_are_seen"
            ),
        ]
        indexes = [
            models.Index(fields=["next_poll_at"], condition=~Q(next_poll_at=None), name="connectors_due"),
            models.Index(fields=["organization", "-created_at", "-id"], name="connectors_newest"),
            models.Index(
                fields=["organization", "next_poll_at"], condition=~Q(next_poll_at=None), name="connectors_due_by_owner"
            ),
            models.Index(fields=["lease_until"], condition=~Q(lease_until=None), name="connectors_leased"),
            models.Index(fields=["silent_at"], condition=~Q(silent_at=None), name="connectors_silent"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_silent(self) -> bool:
        """Whether the connector is polled but has stopped bringing records, as in `silent()`."""
        return self.next_poll_at is not None and self.silent_at is not None and self.silent_at <= timezone.now()

    @property
    def lag_seconds(self) -> int | None:
        """Return the seconds since the source was last read to its end; before that, the age of its newest item."""
        since = self.caught_up_at or self.newest_item_at
        return max(0, round((timezone.now() - since).total_seconds())) if since else None

    @property
    def why_not_polled(self) -> str:
        """Return what to do before the connector can be polled; "" for nothing."""
        if not self.enabled:
            return "This connector is disabled. Enable it first."
        return "This connector's settings have problems. Fix them first." if self.problems else ""

    @property
    def state(self) -> str:
        """Return the state in a word or two, for lists."""
        if not self.enabled:
            return "disabled"
        if self.problems:
            return "not configured"
        return "stopped" if self.stopped_at else "failing" if self.failures else "running"


class OfConnectorQuerySet(TenantQuerySet[Any]):
    organization_path = "connector__organization"


class PollTurn(models.Model):
    """The time when a worker last began to poll for an organization. The longest wait goes first."""

    organization = models.OneToOneField(Organization, on_delete=models.CASCADE, related_name="+", primary_key=True)
    polled_at = models.DateTimeField()

    objects = TenantQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.organization_id} at {self.polled_at}"


class PollRun(models.Model):
    """One poll, from claim to end. A killed poll has no end. Only the newest polls of a connector are kept."""

    class Outcome(models.TextChoices):
        RUNNING = "running", _("under way, or ended by a crash")
        FINISHED = "finished", _("read to the end")
        MORE = "more", _("its time was over; goes on at once")
        WAITING = "waiting", _("pauses until fewer records wait for custody")
        FAILED = "failed", _("failed")
        OVERTAKEN = "overtaken", _("the connector was changed, or another worker took over")

    connector = models.ForeignKey(Connector, on_delete=models.CASCADE, related_name="runs", db_index=False)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=16, choices=Outcome.choices, default=Outcome.RUNNING)
    seen = models.PositiveIntegerField(default=0)
    new = models.PositiveIntegerField(default=0)
    repeated = models.PositiveIntegerField(default=0)
    quarantined = models.PositiveIntegerField(default=0)
    cause = models.CharField(max_length=16, blank=True, help_text="Of a failure: config, transient or system.")
    detail = models.CharField(max_length=1000, blank=True)
    fix = models.CharField(max_length=1000, blank=True)

    objects = OfConnectorQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(outcome__in=["running", "finished", "more", "waiting", "failed", "overtaken"]),
                name="poll_runs_of_known_outcomes",
            ),
            models.CheckConstraint(
                condition=Q(cause__in=["", "config", "transient", "system"]), name="poll_runs_of_known_causes"
            ),
        ]
        indexes = [models.Index(fields=["connector", "-id"], name="poll_runs_newest")]

    def __str__(self) -> str:
        return f"{self.connector_id} at {self.started_at}"


class Quarantined(models.Model):
    """An item that could not become a record: its position and the reason, without its content."""

    class Cause(models.TextChoices):
        INVALID = "invalid", _("no acceptable record")
        CONFLICT = "conflict", _("another record of this decision_id is in custody")

    connector = models.ForeignKey(Connector, on_delete=models.CASCADE, related_name="quarantine", db_index=False)
    cause = models.CharField(max_length=16, choices=Cause.choices)
    position = models.CharField(max_length=MAX_POSITION)
    origin = models.CharField(max_length=MAX_LEDGER_NAME, blank=True)
    reason = models.CharField(max_length=1000)
    digest = models.CharField(max_length=64, help_text="SHA-256 of the item's bytes.")
    cursor = models.JSONField(default=dict, help_text="From which the item is read again.")
    created_at = models.DateTimeField()

    objects = OfConnectorQuerySet.as_manager()

    class Meta:
        verbose_name_plural = _("quarantined items")
        constraints = [
            models.UniqueConstraint(fields=["connector", "digest"], name="quarantined_once_per_digest"),
            models.CheckConstraint(condition=Q(cause__in=["invalid", "conflict"]), name="quarantine_of_known_causes"),
        ]
        indexes = [models.Index(fields=["connector", "-created_at", "-id"], name="quarantine_newest")]

    def __str__(self) -> str:
        return self.position


class Dismissed(models.Model):
    """An item that a member dismissed from quarantine. It does not return when the source is read again."""

    connector = models.ForeignKey(Connector, on_delete=models.CASCADE, related_name="dismissed", db_index=False)
    digest = models.CharField(max_length=64, help_text="SHA-256 of the item's bytes.")
    dismissed_at = models.DateTimeField(auto_now_add=True)

    objects = OfConnectorQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["connector", "digest"], name="dismissed_once_per_digest")]

    def __str__(self) -> str:
        return self.digest


class LedgerRow(models.Model):
    """The version in which an object or file was read to its end. The name is a digest, see `ledger_names`."""

    connector = models.ForeignKey(Connector, on_delete=models.CASCADE, related_name="ledger", db_index=False)
    name = models.CharField(max_length=MAX_LEDGER_NAME)
    version = models.CharField(max_length=256)
    note = models.CharField(max_length=2048, default="", blank=True, help_text="How to ask for a page again.")
    read_at = models.DateTimeField()

    objects = OfConnectorQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["connector", "name"], name="one_ledger_row_per_name")]

    def __str__(self) -> str:
        return self.name


class Alert(Leased):
    """A mail to a member about a connector that needs attention, at most one a day for each event."""

    class Event(models.TextChoices):
        STOPPED = "stopped", _("stopped")
        SILENT = "silent", _("fell silent")
        QUARANTINE = "quarantine", _("has more in quarantine")

    connector = models.ForeignKey(Connector, on_delete=models.CASCADE, related_name="alerts")
    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="+")
    event = models.CharField(max_length=16, choices=Event.choices)
    day = models.DateField()
    handled_at = models.DateTimeField(null=True)

    objects = OfConnectorQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["connector", "member", "event", "day"], name="one_alert_a_day"),
            models.CheckConstraint(
                condition=Q(event__in=["stopped", "silent", "quarantine"]), name="alerts_of_known_events"
            ),
        ]
        indexes = [models.Index(fields=["id"], condition=Q(handled_at=None), name="alerts_waiting")]

    def __str__(self) -> str:
        return f"{self.event} of {self.day}"
