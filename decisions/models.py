import uuid
from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, cast

from django.db import models
from django.db.models import OuterRef, Q, Subquery
from django.db.models.expressions import BaseExpression
from django.db.models.functions import Coalesce, NullIf
from django.utils.translation import gettext as _

from accounts.models import Organization
from config.tenancy import TenantQuerySet
from custody.models import Entry
from decisions.mapping.models import (
    Mapping,
    MappingProposal,
    MappingVersion,
    MappingWatch,
    UnknownField,
    UnknownFieldMail,
)

__all__ = [
    "Decision",
    "Mapping",
    "MappingProposal",
    "MappingVersion",
    "MappingWatch",
    "Reconsideration",
    "UnknownField",
    "UnknownFieldMail",
]

if TYPE_CHECKING:
    from custody.selectors import Fetched

MAX_DECISION_ID = 256


class DecisionQuerySet(TenantQuerySet["Decision"]):
    def with_current(self) -> "DecisionQuerySet":
        """Add the id and outcome of the latest reconsideration, and `current_action`, as the latest reconsideration
        that changed the action set it."""
        return self.annotate(**_current())


@cache
def _current() -> dict[str, BaseExpression]:
    """Return the annotations of `with_current`. Cached, because building them takes longer than the query."""
    rows = Decision.objects.unscoped("a chain is of one organization, that of its first decision")
    latest = rows.filter(first=OuterRef("pk")).order_by("-received_at", "-pk")
    changing = latest.exclude(action="")
    return {
        "current_action": Coalesce(Subquery(changing.values("action")[:1]), "action"),
        "latest_reconsideration": Subquery(latest.values("decision_id")[:1]),
        "latest_outcome": NullIf(Subquery(latest.values("review_outcome")[:1]), models.Value("")),
    }


class DecisionManager(models.Manager["Decision"]):
    """Decisions whose records are not disposed of."""

    def get_queryset(self) -> DecisionQuerySet:
        return DecisionQuerySet(self.model, using=self._db).exclude(decision_id=None)

    def for_organization(self, organization: models.Model | uuid.UUID) -> DecisionQuerySet:
        return self.get_queryset().for_organization(organization)

    def unscoped(self, because: str) -> DecisionQuerySet:
        return self.get_queryset().unscoped(because)


_REVIEW_COLUMNS = (("review_outcome", "outcome"), ("reviewer", "reviewer"), ("reviewer_authority", "authority"))
"""Columns that filter the list of reconsiderations, and their names in indexes."""


class Decision(models.Model):
    """The index row of a record, for lists, filters and searches. The record itself is in custody. When the record is
    disposed of, the row keeps only the columns that reports count."""

    record = models.OneToOneField(Entry, on_delete=models.PROTECT, primary_key=True, related_name="+")
    organization = models.ForeignKey(
        Organization,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        # The entry has a foreign key to its organization, and `record_of` compares the two columns. A second
        # constraint would have every insert lock the organization's row twice.
        db_constraint=False,
    )
    # None once the record is disposed of. Never None in rows of `objects`.
    decision_id: "models.CharField[str | None, str]" = models.CharField(max_length=MAX_DECISION_ID, null=True)  # type: ignore[misc]
    kind = models.CharField(max_length=16)
    source = models.CharField(max_length=128)
    received_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    action = models.CharField(max_length=256, blank=True)
    system_name = models.CharField(max_length=256, blank=True)
    system_version = models.CharField(max_length=256, blank=True)
    subject_reference = models.CharField(max_length=256, blank=True)

    # Only a reconsideration has these: the record it reconsiders, and the decision at the start of the chain.
    reconsiders = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )
    first = models.ForeignKey(
        "self", on_delete=models.PROTECT, null=True, blank=True, related_name="reconsiderations", db_index=False
    )
    review_outcome = models.CharField(max_length=64, blank=True)
    reviewer = models.CharField(max_length=256, blank=True)
    reviewer_authority = models.CharField(max_length=256, blank=True)

    # Set by `with_current` and `take_current`.
    current_action: str | None
    latest_reconsideration: str | None
    latest_outcome: str | None

    fetched: "Fetched | None" = None
    """The sealed record, if this page or call has fetched it from its vault."""

    chain: "list[Decision] | None" = None
    """The reconsiderations in its chain, oldest first, if they were read with the decision."""

    objects = DecisionManager()
    with_disposed = DecisionQuerySet.as_manager()

    class Meta:
        constraints = [
            # The primary key is derived from organization and id, so it implies this constraint. Its index serves
            # searches by the start of an id, because the migration makes the column sort by bytes.
            models.UniqueConstraint(fields=["organization", "decision_id"], name="one_record_per_decision_id"),
            models.CheckConstraint(
                condition=Q(reconsiders=None, first=None) | Q(reconsiders__isnull=False, first__isnull=False),
                name="a_reconsideration_has_its_chain",
            ),
        ]
        indexes = [
            models.Index(fields=["organization", "-received_at", "-record"], name="decisions_newest"),
            models.Index(fields=["organization", "action", "-received_at", "-record"], name="decisions_by_action"),
            models.Index(fields=["organization", "system_name", "-received_at", "-record"], name="decisions_by_system"),
            models.Index(fields=["organization", "decided_at", "record"], name="decisions_by_time"),
            models.Index(fields=["organization", "subject_reference"], name="decisions_by_subject"),
            # SQLite uses an index with this condition, but not one with `~Q(first=None)`.
            models.Index(
                fields=["first", "-received_at"], condition=Q(first__isnull=False), name="reconsiderations_of"
            ),
            models.Index(
                fields=["organization", "-received_at", "-record"],
                condition=Q(first__isnull=False),
                name="reconsiderations_newest",
            ),
            *(
                models.Index(
                    fields=["organization", column, "-received_at", "-record"],
                    condition=Q(first__isnull=False),
                    name=f"reconsiderations_by_{name}",
                )
                for column, name in _REVIEW_COLUMNS
            ),
        ]

    def __str__(self) -> str:
        return self.decision_id

    @property
    def title(self) -> str:
        """Its name for people, who know a reconsideration by the decision it reviews."""
        return _("Review of %(decision)s") % {"decision": self.first.decision_id} if self.first else self.decision_id

    def take_current(self, chain: Sequence["Decision"]) -> None:
        """Set the fields of `with_current` from the decision's chain, oldest first. The query of `with_current` takes
        several times as long as reading the decision."""
        reviews = [row for row in chain if row.first_id == self.pk]
        self.current_action = next((row.action for row in reversed(reviews) if row.action), self.action)
        self.latest_reconsideration = reviews[-1].decision_id if reviews else None
        self.latest_outcome = (reviews[-1].review_outcome or None) if reviews else None


class ReconsiderationManager(models.Manager["Reconsideration"]):
    """Reconsiderations whose records are not disposed of."""

    def get_queryset(self) -> TenantQuerySet["Reconsideration"]:
        rows = TenantQuerySet["Reconsideration"](self.model, using=self._db)
        return rows.filter(first__isnull=False).exclude(decision_id=None)  # the condition of the partial index

    def for_organization(self, organization: models.Model | uuid.UUID) -> TenantQuerySet["Reconsideration"]:
        return self.get_queryset().for_organization(organization)


class Reconsideration(Decision):
    """A decision that reconsiders another."""

    objects = ReconsiderationManager()  # type: ignore[misc, assignment]

    class Meta:
        proxy = True

    @property
    def time_taken(self) -> timedelta:
        """Return the time since the first decision, or since its receipt if the record has no time or a later one."""
        first = cast(Decision, self.first)  # the table's constraint ensures it
        return self.received_at - min(first.decided_at or first.received_at, first.received_at)
