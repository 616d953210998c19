"""Copies of records that reached a vault while the records were being disposed of."""

import uuid
from collections.abc import Collection

from config import leases
from custody.models import Disposal


def reopen_disposals(record_ids: Collection[uuid.UUID]) -> None:
    """Have removed, everywhere and once more, those of some records that are disposed of. Call it after a copy of them
    was put anywhere: whoever is just removing them may have looked there before, and finishes nothing any more."""
    if record_ids:
        rows = Disposal.objects.unscoped("records of several organizations are put together")
        rows.filter(pk__in=record_ids).update(finished_at=None, **leases.RELEASED)
