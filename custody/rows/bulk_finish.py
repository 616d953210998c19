"""Bulk statement that marks records stored and drops their waiting copies.

It is written in SQL because it runs for every record in a vault outside the database: as three Django queries it costs
more than the put.
"""

import uuid
from collections.abc import Sequence

from django.db import connection, transaction

from config import db, leases
from config.pg_arrays import pack
from custody.models import Entry, WaitingObject

_TARGET = Entry._meta.get_field("target").column
_FINISH = f"""
    WITH put (id, token, target, signed) AS (
        SELECT unnest(%s::uuid[]), unnest(%s::uuid[]), unnest(%s::text[]), unnest(%s::bytea[])
    ),
    held AS (
        SELECT record_id FROM {WaitingObject._meta.db_table} JOIN put ON record_id = id AND lease_token = token
        ORDER BY record_id FOR UPDATE
    ),
    stored AS (
        UPDATE {Entry._meta.db_table} SET state = 'stored' FROM put
        WHERE record_id = id AND record_id IN (SELECT record_id FROM held)
        AND state = 'reserved' AND {_TARGET} = target AND signature = signed
        RETURNING record_id
    ),
    dropped AS (DELETE FROM {WaitingObject._meta.db_table} WHERE record_id IN (SELECT record_id FROM stored))
    SELECT record_id FROM stored
"""  # noqa: S608 - only table names


def finish(there: Sequence[WaitingObject]) -> set[uuid.UUID]:
    """Mark records stored whose lease is still ours and whose row still expects this object with this signature.

    Args:
        there: at least one row, with entries, whose object was put into its vault.

    Returns:
        The ids of the records that this call has marked.
    """
    if connection.vendor == "postgresql":
        values = [
            pack("uuid", [row.pk for row in there]),
            pack("uuid", [row.lease_token for row in there]),
            pack("text", [row.record.target_id for row in there]),
            pack("bytea", [row.record.signature for row in there]),
        ]
        return {columns[0] for columns in db.fetch_all(_FINISH, values, [Entry._meta.pk])}
    expected = {row.pk: (row.record.target_id, bytes(row.record.signature)) for row in there}
    with transaction.atomic():
        held = leases.unchanged(there).filter(record__state=Entry.State.RESERVED)
        rows = held.values_list("pk", "record__target", "record__signature")
        mine = {pk for pk, target_id, signature in rows if (target_id, bytes(signature)) == expected[pk]}
        entries = Entry.objects.unscoped("records of several organizations are finished together")
        entries.filter(pk__in=mine).update(state=Entry.State.STORED)
        WaitingObject.objects.unscoped("these are copies of the same records").filter(pk__in=mine).delete()
    return mine
