"""Every change of state around decisions. API, back office and commands call these and nothing else.

`records` takes decision records in, one or many; `dry_runs` only tells what would become of one; `reconsiderations`
records human reviews of them. All require a permission of their caller. None ever changes a record.
"""

from decisions.services.dry_runs import DryRun, dry_run
from decisions.services.reconsiderations import AlreadyRecorded, reconsider
from decisions.services.records import (
    CHUNK,
    INVALID,
    Acceptance,
    Line,
    RecordConflict,
    ingest,
    ingest_in_group,
    ingest_lines,
)

__all__ = [
    "CHUNK",
    "INVALID",
    "Acceptance",
    "AlreadyRecorded",
    "DryRun",
    "Line",
    "RecordConflict",
    "dry_run",
    "ingest",
    "ingest_in_group",
    "ingest_lines",
    "reconsider",
]
