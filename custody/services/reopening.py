"""Copies of records that reached a vault while the records were being disposed of."""

import uuid
from collections.abc import Collection

from config import leases
from custody.models import Disposal


def reopen_disposals(record_ids: Collection[uuid.UUID]) -> None:
    """Have disposed records removed from all storage once more. Call it after a put of their copies: a concurrent
    disposal may already have passed that vault. It then loses its lease, so it cannot finish."""
    if record_ids:
        rows = Disposal.objects.unscoped("records of several organizations are put together")
        rows.filter(pk__in=record_ids).update(finished_at=None, **leases.RELEASED)
