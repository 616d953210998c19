from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Member, Organization
from config.http.timestamps import minute_in_words
from config.leases import Leased
from config.tenancy import TenantQuerySet

MIN_DAYS, MAX_DAYS = 1, 36_500
"""Bounds of a policy's days."""
USUAL_SHARE = 5
MAX_NOTE = 1000
MAX_MATTER, MAX_REASON = 200, 1000


class Policy(models.Model):
    """A version of an organization's retention policy. A change makes a new version.

    A version that shortens the period begins a week after the first owner got the mail about it. Until then, the daily
    run follows the version before. Any other version begins at once.
    """

    organization = models.ForeignKey(Organization, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.PositiveIntegerField()
    days = models.PositiveIntegerField()
    note = models.CharField(max_length=MAX_NOTE, blank=True)
    share_percent = models.PositiveSmallIntegerField(
        default=USUAL_SHARE, help_text="Of the organization's records, how many a daily run may free without asking."
    )
    created_by = models.CharField(max_length=300)
    created_at = models.DateTimeField()
    shortens = models.BooleanField()
    announced_at = models.DateTimeField(null=True, help_text="When the first owner was notified of a shorter period.")
    begins_at = models.DateTimeField(null=True, help_text="For the daily run. Empty until an owner was notified.")

    objects = TenantQuerySet.as_manager()

    class Meta:
        verbose_name_plural = _("retention")
        constraints = [
            models.UniqueConstraint(fields=["organization", "number"], name="policies_are_numbered"),
            models.CheckConstraint(condition=Q(number__gte=1), name="policies_are_numbered_from_one"),
            models.CheckConstraint(condition=Q(days__gte=MIN_DAYS, days__lte=MAX_DAYS), name="policy_days_are_bounded"),
            models.CheckConstraint(
                condition=Q(share_percent__gte=1, share_percent__lte=100), name="policy_shares_are_percentages"
            ),
            models.CheckConstraint(
                condition=Q(shortens=False, announced_at=None, begins_at__isnull=False)
                | Q(shortens=True, announced_at=None, begins_at=None)
                | Q(shortens=True, announced_at__isnull=False, begins_at__isnull=False)
                & Q(begins_at__gt=models.F("announced_at")),
                name="what_shortens_is_announced_first",
            ),
        ]

    def __str__(self) -> str:
        return f"policy {self.number}: {self.days} days"

    @property
    def is_unannounced(self) -> bool:
        """Whether the mail to owners has yet to go out."""
        return self.shortens and self.announced_at is None


class Hold(models.Model):
    """A legal hold: the families it covers are kept until it is lifted.

    It covers one family, or all families, also future ones, in which a decision matches a filter.
    """

    organization = models.ForeignKey(Organization, on_delete=models.PROTECT, related_name="+", db_index=False)
    number = models.PositiveIntegerField()
    matter = models.CharField(max_length=MAX_MATTER)
    reason = models.CharField(max_length=MAX_REASON)
    root = models.UUIDField(null=True, help_text="The record id of the first record of the family.")
    filter = models.JSONField(null=True, help_text="What a decision of a family must match: as lists are filtered.")
    placed_by = models.CharField(max_length=300)
    placed_at = models.DateTimeField()
    lifted_by = models.CharField(max_length=300, blank=True)
    lifted_at = models.DateTimeField(null=True)
    lifted_because = models.CharField(max_length=MAX_REASON, blank=True)

    objects = TenantQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "number"], name="holds_are_numbered"),
            models.CheckConstraint(
                condition=Q(root__isnull=True, filter__isnull=False) | Q(root__isnull=False, filter__isnull=True),
                name="holds_cover_a_family_or_a_filter",
            ),
            models.CheckConstraint(
                condition=Q(lifted_at=None, lifted_by="", lifted_because="")
                | (Q(lifted_at__isnull=False) & ~Q(lifted_by="")),
                name="lifted_holds_say_by_whom",
            ),
            models.CheckConstraint(
                condition=Q(lifted_at__isnull=False) | (~Q(matter="") & ~Q(reason="")), name="holds_say_why"
            ),
        ]
        indexes = [models.Index(fields=["organization", "root"], condition=Q(lifted_at=None), name="holds_in_force")]

    def __str__(self) -> str:
        return f"hold {self.number}"


class Run(Leased):
    """A pass over an organization's families under a policy. Its worker holds its lease.

    All figures but `records` count families. A run that asks has disposed of nothing: an owner confirms it, for at most
    `candidates` families.
    """

    class Kind(models.TextChoices):
        DAILY = "daily", _("daily run")
        COMMAND = "command", _("command")

    class State(models.TextChoices):
        RUNNING = "running", _("running")
        ASKS = "asks", _("waits for an owner")
        FINISHED = "finished", _("finished")
        STOPPED = "stopped", _("stopped")

    UNFINISHED = (State.RUNNING, State.ASKS)

    organization = models.ForeignKey(Organization, on_delete=models.PROTECT, related_name="+")
    policy = models.PositiveIntegerField(help_text="The number of the policy.")
    days = models.PositiveIntegerField()
    kind = models.CharField(max_length=8, choices=Kind.choices)
    state = models.CharField(max_length=8, choices=State.choices, default=State.RUNNING)
    started_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    cursor = models.UUIDField(null=True, help_text="The root of the last family that it has gone through.")
    considered = models.PositiveIntegerField(default=0)
    disposed = models.PositiveIntegerField(default=0)
    records = models.PositiveIntegerField(default=0, help_text="Of the families that were disposed of.")
    held = models.PositiveIntegerField(default=0)
    kept_by_floor = models.PositiveIntegerField(default=0)
    with_obstacle = models.PositiveIntegerField(default=0)
    candidates = models.PositiveIntegerField(null=True, help_text="How many families it would free, when it asks.")
    confirmed_by = models.CharField(max_length=300, blank=True)
    confirmed_at = models.DateTimeField(null=True)

    objects = TenantQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organization"], condition=Q(state__in=["running", "asks"]), name="one_unfinished_run"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["running", "asks"], finished_at=None)
                | (~Q(state__in=["running", "asks"]) & Q(finished_at__isnull=False)),
                name="runs_that_ended_say_when",
            ),
            models.CheckConstraint(
                condition=~Q(state="asks") | Q(candidates__isnull=False), name="runs_that_ask_say_how_many"
            ),
        ]
        indexes = [models.Index(fields=["organization", "-started_at", "-id"], name="runs_newest")]

    def __str__(self) -> str:
        return f"{self.kind} run of {minute_in_words(self.started_at)}"


class AnnouncementQuerySet(TenantQuerySet["Announcement"]):
    organization_path = "member__organization"


class Announcement(Leased):
    """A mail to an owner about a policy that shortens, or about a run that asks. Each owner gets one."""

    policy = models.ForeignKey(Policy, on_delete=models.CASCADE, null=True, related_name="+")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, null=True, related_name="+")
    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="+")
    handled_at = models.DateTimeField(null=True)

    objects = AnnouncementQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["policy", "member"], name="one_announcement_a_policy"),
            models.UniqueConstraint(fields=["run", "member"], name="one_announcement_a_run"),
            models.CheckConstraint(
                condition=Q(policy__isnull=True, run__isnull=False) | Q(policy__isnull=False, run__isnull=True),
                name="announcements_tell_of_one_thing",
            ),
        ]
        indexes = [models.Index(fields=["id"], condition=Q(handled_at=None), name="announcements_waiting")]

    def __str__(self) -> str:
        return f"{self.policy or self.run} to {self.member_id}"
