"""What is kept about a person whom an organization calls by a reference, for how long, and why."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from config.errors import DomainError
from custody import families
from custody.models import Disposal
from custody.record_types import Families, Floor
from decisions.models import Decision
from decisions.record_types import chains
from retention import rules
from retention.models import LONGEST, Policy

LONGEST_REFERENCE = 256
"""A longer one is in its record, and in no index."""


class ReferenceUnusable(DomainError):
    """Nothing can be found by it."""

    code = "reference_unusable"
    status = 422
    sentence = f"A reference that can be looked for has 1 to {LONGEST_REFERENCE} characters, none of them NUL."


@dataclass(frozen=True, slots=True)
class Law:
    """What asks to keep a family, and until when at least."""

    floor: Floor
    until: datetime


@dataclass(frozen=True, slots=True)
class Kept:
    """For how long a family is kept, and why.

    Attributes:
        policy: None if the organization has none.
        since: from when its days count; None if nothing of it is left.
        disposed_from: from when it may be disposed of, if no hold and no obstacle stands against it; None if nothing
            says so.
        laws: the longest first.
        holds: their numbers. Their matters are the organization's own.
        obstacles: sentences about what is unfinished.
        disposals: of its records, if it is disposed of.
    """

    policy: Policy | None
    since: datetime | None = None
    disposed_from: datetime | None = None
    laws: Sequence[Law] = ()
    holds: Sequence[int] = ()
    obstacles: Sequence[str] = ()
    disposals: Sequence[Disposal] = ()


def roots_about(organization_id: uuid.UUID, reference: str) -> list[uuid.UUID]:
    """The families that concern a person, the oldest first.

    Raises:
        ReferenceUnusable
    """
    if not 1 <= len(reference) <= LONGEST_REFERENCE or "\x00" in reference:
        raise ReferenceUnusable
    found = families.roots_about(organization_id, reference)
    rows = Decision.with_disposed.for_organization(organization_id).filter(pk__in=found)
    return list(rows.order_by("received_at", "pk").values_list("pk", flat=True))


def about_others(asked: Families, reference: str) -> int:
    """How many decisions in these families name somebody else: before they are handed over, somebody should look."""
    return chains(asked).exclude(subject_reference__in=["", reference]).count()


def kept(asked: Families) -> dict[uuid.UUID, Kept]:
    """Of each family, for how long it is kept, and why: by the policy of the daily run, or the one it will have."""
    policy = rules.policy_in_force(asked.organization_id, daily=True) or rules.newest(asked.organization_id)
    verdicts = rules.evaluate(asked, policy or Policy(days=LONGEST), timezone.now())
    floors, disposals = families.floors(asked), _disposals(asked)
    found = {}
    for root in asked.roots:
        verdict = verdicts.get(root)
        if verdict is None:
            found[root] = Kept(policy, disposals=disposals[root])
            continue
        laws = [Law(floor, rules.days_after(verdict.counts_from, floor.days)) for floor in floors[root]]
        found[root] = Kept(
            policy,
            since=verdict.counts_from,
            disposed_from=verdict.disposed_from if policy else None,
            laws=sorted(laws, key=lambda law: law.until, reverse=True),
            holds=verdict.holds,
            obstacles=verdict.obstacles,
        )
    return found


def _disposals(asked: Families) -> dict[uuid.UUID, list[Disposal]]:
    rows = Disposal.objects.for_organization(asked.organization_id).filter(root__in=asked.roots)
    found: dict[uuid.UUID, list[Disposal]] = {root: [] for root in asked.roots}
    for row in rows.order_by("pk"):
        found[row.root].append(row)
    return found
