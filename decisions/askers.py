"""Who asked for a review: apps that keep what people ask for name those who wait to be told the outcome."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from decisions.models import Decision


@dataclass(frozen=True, slots=True)
class Asker:
    """A request for review that a reconsideration has answered, and whose person does not know it yet."""

    review_request_id: str
    due_at: datetime | None
    next: str
    """What is to be done now, in a sentence."""


Askers = Callable[[Decision], list[Asker]]
_SOURCES: list[Askers] = []


def register(source: Askers) -> None:
    """Ask `source` who waits whenever a reconsideration is recorded; apps call this from their `ready()`."""
    _SOURCES.append(source)


def who_wait(organization_id: uuid.UUID, record_id: uuid.UUID) -> list[Asker]:
    """Those who wait to be told what a reconsideration has come to, the next deadline first."""
    decision = Decision.objects.for_organization(organization_id).get(pk=record_id)
    return [asker for source in _SOURCES for asker in source(decision)]
