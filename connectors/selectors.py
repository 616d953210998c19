import uuid
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import Exists, OuterRef, Q, QuerySet, UUIDField
from django.utils import timezone

from config import db
from connectors.errors import NoConnector
from connectors.models import Connector, Quarantined
from decisions.models import Decision

_SILENT_AFTER, _FORGOTTEN_AFTER = timedelta(days=7), timedelta(days=90)
# Jumps from one name of the index to the next, because there are few systems and very many decisions.
_NEWEST_BY_SYSTEM = """
WITH RECURSIVE systems(name) AS (
    SELECT min(system_name) FROM decisions_decision WHERE organization_id = %(organization)s AND system_name > ''
    UNION ALL
    SELECT (SELECT min(system_name) FROM decisions_decision
            WHERE organization_id = %(organization)s AND system_name > systems.name)
    FROM systems WHERE systems.name IS NOT NULL
)
SELECT name, (SELECT received_at FROM decisions_decision
              WHERE organization_id = %(organization)s AND system_name = name
              ORDER BY received_at DESC LIMIT 1)
FROM systems WHERE name IS NOT NULL LIMIT 1000
"""


def connector(organization_id: uuid.UUID, source_id: str) -> Connector:
    """Return a connector of an organization. Raises NoConnector."""
    try:
        wanted = uuid.UUID(source_id)
    except ValueError:
        raise NoConnector from None
    row = db.only(Connector.objects.for_organization(organization_id).filter(source_id=wanted))
    if row is None or str(row.source_id) != source_id:
        raise NoConnector
    return row


def in_need(organization_id: uuid.UUID) -> QuerySet[Any]:
    """Return connectors that stopped, fell silent or have quarantined items (`has_quarantined`), by name."""
    rows = Connector.objects.for_organization(organization_id)
    marked = rows.annotate(
        has_quarantined=Exists(Quarantined.objects.for_organization(organization_id).filter(connector=OuterRef("pk")))
    )
    silent = Q(pk__in=rows.silent().values("pk"))
    return marked.filter(Q(stopped_at__isnull=False) | Q(has_quarantined=True) | silent).order_by("name", "pk")


def stopped_systems(organization_id: uuid.UUID) -> dict[str, datetime]:
    """Return the systems that sent nothing for a week but did within 90 days, with the time of their last record.

    This is one query, with two index look-ups for each system.
    """
    organization = UUIDField().get_db_prep_value(organization_id, connection)
    received_at = Decision._meta.get_field("received_at")
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST_BY_SYSTEM, {"organization": organization})
        rows = cursor.fetchall()
    converters = connection.ops.get_db_converters(received_at.get_col("decisions_decision"))
    now = timezone.now()
    newest = {}
    for name, at in rows:
        for convert in converters:
            at = convert(at, received_at, connection)
        if _SILENT_AFTER < now - at < _FORGOTTEN_AFTER:
            newest[name] = at
    return newest
