"""Preview of a policy: the number of families it would dispose of now, and the reasons to keep others. Read-only."""

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

MAX_FAMILIES = 2000
"""Families that are checked while a person waits."""


@dataclass(slots=True)
class Preview:
    """Numbers of families past a policy's days, by outcome.

    Attributes:
        due: families it would dispose of.
        newly_due: the due families that the present policy would keep.
        by_floor: families that a law keeps longer.
        by_obstacle: unfinished families, by the sentence on their first obstacle.
        is_capped: whether more families exist than were checked. Each figure then is a minimum.
    """

    due: int = 0
    newly_due: int = 0
    held: int = 0
    by_floor: Counter[Floor] = field(default_factory=Counter)
    by_obstacle: Counter[str] = field(default_factory=Counter)
    is_capped: bool = False

    @property
    def looked_at(self) -> int:
        """Return the number of checked families past the policy's days."""
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
    """Return the effect of a policy on at most MAX_FAMILIES families.

    Args:
        policy: a policy, saved or not.
        instead_of: the policy it would replace.
    """
    now, figures = timezone.now(), Preview()
    batches = rules.verdicts(organization_id, policy, now)
    for verdicts in islice(batches, MAX_FAMILIES // custody.BATCH):
        for verdict in verdicts.values():
            if verdict.is_due:
                figures.due += 1
                figures.newly_due += instead_of is None or now < rules.days_after(verdict.counts_from, instead_of.days)
            elif verdict.reason is Reason.HOLD:
                figures.held += 1
            elif verdict.reason is Reason.FLOOR and verdict.floor:
                figures.by_floor[verdict.floor] += 1
            elif verdict.reason is Reason.OBSTACLE:
                figures.by_obstacle[verdict.obstacles[0]] += 1
    figures.is_capped = next(batches, None) is not None
    return figures
