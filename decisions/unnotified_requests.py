"""Review requests that a reconsideration has answered and whose person does not know the outcome yet.

The app that stores review requests registers a source of them here.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from decisions.models import Decision


@dataclass(frozen=True, slots=True)
class UnnotifiedRequest:
    """A review request that is answered, but whose person is not notified yet. `next` says in a sentence what to do."""

    review_request_id: str
    due_at: datetime | None
    next: str


Source = Callable[[Decision], list[UnnotifiedRequest]]
_SOURCES: list[Source] = []


def register_unnotified_requests(source: Source) -> None:
    """Ask `source` whenever a reconsideration is recorded. Apps call this from their `ready()`."""
    _SOURCES.append(source)


def unnotified_requests(organization_id: uuid.UUID, record_id: uuid.UUID) -> list[UnnotifiedRequest]:
    """Return the requests whose person has yet to be notified of a reconsideration, the next deadline first."""
    decision = Decision.objects.for_organization(organization_id).get(pk=record_id)
    return [request for source in _SOURCES for request in source(decision)]
