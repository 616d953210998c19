"""Families of records about a person, found by their reference, with the reasons to keep them."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from config.errors import DomainError
from custody.disposal import families
from custody.models import Disposal
from custody.record_types import Families, Floor
from decisions.models import Decision
from decisions.record_types import chains
from retention import rules
from retention.models import MAX_DAYS, Policy

MAX_REFERENCE = 256
"""Characters of a reference. A longer reference is in its record, but in no index."""


class ReferenceUnusable(DomainError):
    """The reference cannot be in the index."""

    code = "reference_unusable"
    status = 422
    sentence = f"The reference must have 1 to {MAX_REFERENCE} characters, without NUL."


@dataclass(frozen=True, slots=True)
class Law:
    """A law that requires keeping a family, and the earliest end of that duty."""

    floor: Floor
    until: datetime


@dataclass(frozen=True, slots=True)
class FamilyRetention:
    """The retention period of a family, and the reasons to keep it.

    Attributes:
        policy: None if the organization has none.
        since: the start of its retention period; None if no record of it is left.
        disposed_from: the earliest time of disposal, without holds and obstacles; None without a policy.
        laws: the laws that require keeping it, the longest first.
        holds: the numbers of its holds, without their matters, which are the organization's business.
        obstacles: sentences about unfinished work.
        disposals: the disposals of its records.
    """

    policy: Policy | None
    since: datetime | None = None
    disposed_from: datetime | None = None
    laws: Sequence[Law] = ()
    holds: Sequence[int] = ()
    obstacles: Sequence[str] = ()
    disposals: Sequence[Disposal] = ()


def roots_about(organization_id: uuid.UUID, reference: str) -> list[uuid.UUID]:
    """Return the families that concern a person, the oldest first.

    Raises:
        ReferenceUnusable
    """
    if not 1 <= len(reference) <= MAX_REFERENCE or "\x00" in reference:
        raise ReferenceUnusable
    roots = families.roots_about(organization_id, reference)
    rows = Decision.with_disposed.for_organization(organization_id).filter(pk__in=roots)
    return list(rows.order_by("received_at", "pk").values_list("pk", flat=True))


def about_others(asked: Families, reference: str) -> int:
    """Count the decisions in these families that name another person. People should check them before a hand-over."""
    return chains(asked).exclude(subject_reference__in=["", reference]).count()


def retention_of(asked: Families) -> dict[uuid.UUID, FamilyRetention]:
    """Return the retention of each family under the daily run's policy, or under its future policy."""
    policy = rules.policy_in_force(asked.organization_id, daily=True) or rules.newest(asked.organization_id)
    verdicts = rules.evaluate(asked, policy or Policy(days=MAX_DAYS), timezone.now())
    periods, disposals = families.retention_of(asked), _disposals(asked)
    retentions = {}
    for root in asked.roots:
        verdict = verdicts.get(root)
        if verdict is None:
            retentions[root] = FamilyRetention(policy, disposals=disposals[root])
            continue
        laws = [Law(floor, rules.days_after(verdict.counts_from, floor.days)) for floor in periods[root].floors]
        retentions[root] = FamilyRetention(
            policy,
            since=verdict.counts_from,
            disposed_from=verdict.disposed_from if policy else None,
            laws=sorted(laws, key=lambda law: law.until, reverse=True),
            holds=verdict.holds,
            obstacles=verdict.obstacles,
        )
    return retentions


def _disposals(asked: Families) -> dict[uuid.UUID, list[Disposal]]:
    rows = Disposal.objects.for_organization(asked.organization_id).filter(root__in=asked.roots)
    by_root: dict[uuid.UUID, list[Disposal]] = {root: [] for root in asked.roots}
    for row in rows.order_by("pk"):
        by_root[row.root].append(row)
    return by_root
