"""Retention sweeps over what connectors keep of a source and may name a person: file names, positions, reasons."""

import uuid
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from connectors import ledger_names
from connectors.models import Connector, Dismissed, LedgerRow, PollRun, Quarantined

_BATCH = 1000
_LONG_AGO = "It was stopped long ago, and why is not kept for so long. Poll it now to see."


def forget_quarantined(organization_id: uuid.UUID, before: datetime) -> int:
    """Delete old quarantined items by their age alone: whose data they hold is unknown."""
    return _delete(Quarantined.objects.for_organization(organization_id).filter(created_at__lt=before))


def forget_dismissed(organization_id: uuid.UUID, before: datetime) -> int:
    """Delete old dismissals. An item that the source still has is quarantined again when the source is reread."""
    return _delete(Dismissed.objects.for_organization(organization_id).filter(dismissed_at__lt=before))


def forget_runs(organization_id: uuid.UUID, before: datetime) -> int:
    """Delete old runs, and the reasons that stopped connectors repeat from their runs."""
    stopped = Connector.objects.for_organization(organization_id).filter(stopped_at__lt=before)
    stopped.exclude(stopped_because=_LONG_AGO).update(stopped_because=_LONG_AGO)
    return _delete(PollRun.objects.for_organization(organization_id).filter(started_at__lt=before))


def digest_names(organization_id: uuid.UUID, before: datetime) -> int:
    """Replace the legible names that earlier versions wrote into the ledger, whatever their age.

    A listed file must still count as read, so its row stays.
    """
    rows = LedgerRow.objects.for_organization(organization_id).exclude(name__startswith=ledger_names.PREFIX)
    count = 0
    while page := list(rows[:_BATCH]):
        legible = [row.pk for row in page]
        for row in page:
            row.pk, row.name = None, ledger_names.name_digest(organization_id, row.name)
        with transaction.atomic():
            LedgerRow.objects.bulk_create(page, ignore_conflicts=True)  # a later poll may have written it
            rows.filter(pk__in=legible).delete()
        count += len(page)
    return count


def forget_places(organization_id: uuid.UUID, before: datetime) -> int:
    """Empty the cursors of connectors that are no longer polled: a cursor may name a file.

    Should such a connector be polled again, it reads from the beginning, and custody recognizes its records.
    """
    recent = PollRun.objects.for_organization(organization_id).filter(connector=OuterRef("pk"), started_at__gte=before)
    idle = Connector.objects.for_organization(organization_id).filter(~Exists(recent), next_poll_at=None)
    return idle.filter(created_at__lt=before).exclude(cursor={}).update(cursor={}, version=F("version") + 1)


def _delete(rows: QuerySet[Any]) -> int:
    return rows.delete()[0]


SWEEPS = {
    "items in quarantine": forget_quarantined,
    "items that were dismissed": forget_dismissed,
    "polls of connectors": forget_runs,
    "names in ledgers of connectors": digest_names,
    "places where connectors stopped": forget_places,
}
