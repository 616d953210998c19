"""Every change of state around decisions. API, back office and commands call these and nothing else.

`records` takes decision records in, one or many; `reconsiderations` records human reviews of them. Both require a
permission of their caller. Neither ever changes a record.
"""

from decisions.services.reconsiderations import AlreadyRecorded, reconsider
from decisions.services.records import (
    CHUNK,
    INVALID,
    Acceptance,
    Line,
    RecordConflict,
    ingest,
    ingest_lines,
)

__all__ = [
    "CHUNK",
    "INVALID",
    "Acceptance",
    "AlreadyRecorded",
    "Line",
    "RecordConflict",
    "ingest",
    "ingest_lines",
    "reconsider",
]
