"""One statement that says of records that they lie in their vaults, and drops their waiting copies.

Written by hand because it runs for every record that goes to a vault outside the database: as three queries of Django's
it costs more than the put.
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
"""  # noqa: S608 - names of tables alone


def finish(there: Sequence[WaitingObject]) -> set[uuid.UUID]:
    """Mark those as stored whose lease is as it was, and whose row says by now too that this object, with this
    signature, belongs where it was put.

    Args:
        there: not empty, with their entries, put into their vaults.

    Returns:
        The record ids of those that are stored by this call.
    """
    if connection.vendor == "postgresql":
        values = [
            pack("uuid", [each.pk for each in there]),
            pack("uuid", [each.lease_token for each in there]),
            pack("text", [each.record.target_id for each in there]),
            pack("bytea", [each.record.signature for each in there]),
        ]
        return {row[0] for row in db.fetch_all(_FINISH, values, [Entry._meta.pk])}
    expected = {each.pk: (each.record.target_id, bytes(each.record.signature)) for each in there}
    with transaction.atomic():
        held = leases.unchanged(there).filter(record__state=Entry.State.RESERVED)
        rows = held.values_list("pk", "record__target", "record__signature")
        mine = {pk for pk, target_id, signature in rows if (target_id, bytes(signature)) == expected[pk]}
        entries = Entry.objects.unscoped("records of several organizations are finished together")
        entries.filter(pk__in=mine).update(state=Entry.State.STORED)
        WaitingObject.objects.unscoped("of the same records").filter(pk__in=mine).delete()
    return mine
