"""Guards of custody's rows, and of index rows, which are made from records."""

from django.db.models import Model

from config.row_guards import Guard
from custody.models import Disposal, Entry, Key, SealedObject, StorageTarget, WaitingObject

_DISPOSED_OF = "EXISTS (SELECT 1 FROM custody_disposal d WHERE d.record_id = OLD.record_id)"
_USED = ("custody_disposal.record_id", "custody_entry.record_id", "custody_entry.state")
_IS_ADOPTED = "(OLD.state = 'reserved' AND NEW.state = 'stored')"
"""The vault has another object than the reserved one: that object becomes the record."""
_IS_SIGNED = "(OLD.state = 'queued' AND NEW.state = 'reserved')"
_HAS_ENTRY = "EXISTS (SELECT 1 FROM custody_entry e WHERE {} AND e.state <> 'disposed')"
_BEGINS_EARLIER = "COALESCE(NEW.valid_from, NEW.created_at) < COALESCE(OLD.valid_from, OLD.created_at)"
_SIGNS_OLDER = (
    "EXISTS (SELECT 1 FROM custody_entry e WHERE e.organization_id = OLD.organization_id"
    " AND e.received_at <= NEW.valid_from AND (e.key_id = OLD.key_id OR e.state = 'queued'))"
)
"""A rotated key signs queued records; an adopted record restores the key that signed it."""
_READ = ("organization_id", "received_at", "key_id")

CUSTODY = (
    Guard(
        Entry,
        changes="{record_id, organization_id}"
        f" OR {{kind, received_at, statement}} AND NOT {_IS_ADOPTED}"
        f" OR {{signature, key_id}} AND NOT {_IS_ADOPTED} AND NOT {_IS_SIGNED}"
        f" OR {{state}} AND NOT {_IS_ADOPTED} AND NOT {_IS_SIGNED} AND NOT"
        f" (NEW.state = 'disposed' AND {_DISPOSED_OF})",
        uses=_USED,
    ),
    Guard(
        WaitingObject,
        rows="EXISTS (SELECT 1 FROM custody_entry e WHERE e.record_id = OLD.record_id"
        " AND e.state IN ('queued', 'reserved'))",
        changes="{record_id}",
        uses=_USED,
    ),
    Guard(
        SealedObject,
        rows={
            "sqlite": _HAS_ENTRY.format("e.record_id = substr(OLD.key, -32)"),
            "postgresql": "OLD.key ~ '/records/[0-9a-f]{2}/[0-9a-f]{32}$' AND "
            + _HAS_ENTRY.format("e.record_id = right(OLD.key, 32)::uuid"),
        },
        changes="{key, body}",
        uses=_USED,
    ),
    Guard(
        Disposal,
        changes="{record_id, root, policy, statement, signature, key_id, disposed_at}",
    ),
    Guard(
        Key,
        changes="{organization_id, purpose, key_id, algorithm, public_pem, created_at}"
        f" OR {_BEGINS_EARLIER} AND NOT {_SIGNS_OLDER}",
        uses=(*_USED, "custody_key.valid_from", *(f"custody_entry.{column}" for column in _READ)),
    ),
    Guard(StorageTarget, changes="{id, organization_id, provider}"),
)


def index_guard(model: type[Model]) -> Guard:
    """Return the guard of an index table, whose primary key is the record id. Its rows are made from records. They may
    change until the record is in its vault, and when it is disposed of."""
    columns = ", ".join(str(field.column) for field in model._meta.concrete_fields)
    on_its_way = (
        "EXISTS (SELECT 1 FROM custody_entry e WHERE e.record_id = OLD.record_id AND e.state IN ('queued', 'reserved'))"
    )
    return Guard(model, changes=f"{{{columns}}} AND NOT {_DISPOSED_OF} AND NOT {on_its_way}", uses=_USED)
