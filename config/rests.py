"""Rests of organizations whose work is slow, so that it delays others little. They hold for one process."""

import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db.models import Min, QuerySet

from config import leases
from config.leases import Row

SLOW_SECONDS = 1
MAX_REST_SECONDS = 600
_REST = 10
"""Seconds of rest for each second that a slow organization has taken."""


class Rests:
    """Next turns of organizations, in seconds of `time.monotonic`: when the last turn began, or when the rest ends."""

    def __init__(self) -> None:
        self._next_turns: dict[uuid.UUID, float] = {}

    def in_turn(self, organization_ids: Iterable[uuid.UUID]) -> list[uuid.UUID]:
        """Return the organizations that do not rest, the longest waiting first. If all rest, return the one whose rest
        ends first."""
        now = time.monotonic()
        for key in [key for key, turn in list(self._next_turns.items()) if turn < now - MAX_REST_SECONDS]:
            self._next_turns.pop(key, None)
        ordered = sorted(organization_ids, key=lambda key: self._next_turns.get(key, 0))
        return [key for key in ordered if self._next_turns.get(key, 0) <= now] or ordered[:1]

    def begin(self, organization_id: uuid.UUID) -> None:
        """Begin the turn of an organization."""
        self._next_turns[organization_id] = max(time.monotonic(), self._next_turns.get(organization_id, 0))

    def end(self, organization_id: uuid.UUID, seconds: float) -> float:
        """Return how many seconds the organization rests, after a turn that took `seconds` for it alone.

        Resting organizations share a tenth of the time: the more there are, the longer each rests.
        """
        now, rest_seconds = time.monotonic(), 0.0
        if seconds > SLOW_SECONDS:
            resting = sum(turn > now for key, turn in list(self._next_turns.items()) if key != organization_id)
            rest_seconds = min(_REST * seconds * (1 + resting), MAX_REST_SECONDS)
        self._next_turns[organization_id] = now + rest_seconds
        return rest_seconds

    @contextmanager
    def turn(self, organization_id: uuid.UUID) -> Iterator[None]:
        """Give an organization its turn. If the turn is slow, the organization rests afterwards."""
        self.begin(organization_id)
        began = time.monotonic()
        try:
            yield
        finally:
            self.end(organization_id, time.monotonic() - began)

    def claim_each(self, waiting: QuerySet[Row], *, owner: str, lasts: timedelta, seconds: float) -> Iterator[Row]:
        """Yield claimed rows like `leases.claim_each`, one of each organization in turn.

        Args:
            owner: name of the field that leads from a row to its organization.
        """
        ends = time.monotonic() + seconds
        due = leases.due(waiting).values(owner).annotate(first=Min("pk")).order_by("first")
        organization_ids = list(due.values_list(owner, flat=True))
        while organization_ids:
            organization_id = self.in_turn(organization_ids)[0]
            with self.turn(organization_id):
                claimed = leases.claim(waiting.filter(**{owner: organization_id}), lasts=lasts)
                yield from claimed
            if not claimed:
                organization_ids.remove(organization_id)
            elif time.monotonic() >= ends:
                return

    def forget(self) -> None:
        """Let all organizations begin as new ones."""
        self._next_turns.clear()

    def __contains__(self, organization_id: uuid.UUID) -> bool:
        return organization_id in self._next_turns
