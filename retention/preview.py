"""What a policy would do now: how many families it would free, and what keeps the others. It changes nothing."""

import uuid
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice

from django.utils import timezone

from custody import services as custody
from custody.record_types import Floor
from retention import rules
from retention.models import Policy
from retention.rules import Reason

MOST = 2000
"""Families that are looked at while somebody waits."""


@dataclass(slots=True)
class Preview:
    """What is to become of families that are past a policy's days. All figures are families.

    Attributes:
        due: those that it would free.
        newly_due: of these, those that the policy in its place would keep.
        by_floor: those that a law keeps longer.
        by_obstacle: those that are unfinished, by the first sentence that says in what.
        is_capped: whether there are more than were looked at: then each figure is the least that it can be.
    """

    due: int = 0
    newly_due: int = 0
    held: int = 0
    by_floor: Counter[Floor] = field(default_factory=Counter)
    by_obstacle: Counter[str] = field(default_factory=Counter)
    is_capped: bool = False

    @property
    def looked_at(self) -> int:
        """How many are past the policy's days, of those looked at."""
        return self.due + self.held + self.kept_by_floor + self.with_obstacle

    @property
    def floors(self) -> list[tuple[Floor, int]]:
        return self.by_floor.most_common()

    @property
    def obstacles(self) -> list[tuple[str, int]]:
        return self.by_obstacle.most_common()

    @property
    def kept_by_floor(self) -> int:
        return self.by_floor.total()

    @property
    def with_obstacle(self) -> int:
        return self.by_obstacle.total()


def preview(organization_id: uuid.UUID, policy: Policy, *, instead_of: Policy | None = None) -> Preview:
    """What a policy would do, looking at no more than MOST families.

    Args:
        policy: need not be saved.
        instead_of: the one whose place it would take.
    """
    now, found = timezone.now(), Preview()
    batches = rules.verdicts(organization_id, policy, now)
    for verdicts in islice(batches, MOST // custody.BATCH):
        for verdict in verdicts.values():
            if verdict.is_due:
                found.due += 1
                found.newly_due += instead_of is None or now < rules.days_after(verdict.counts_from, instead_of.days)
            elif verdict.reason is Reason.HOLD:
                found.held += 1
            elif verdict.reason is Reason.FLOOR and verdict.floor:
                found.by_floor[verdict.floor] += 1
            elif verdict.reason is Reason.OBSTACLE:
                found.by_obstacle[verdict.obstacles[0]] += 1
    found.is_capped = next(batches, None) is not None
    return found
