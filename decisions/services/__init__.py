"""Operations on decisions, the only ones that API, back office and commands call.

`records` ingests decision records, one or many. `dry_runs` checks a record without storing it. `reconsiderations`
records human reviews. Each operation requires a permission of its caller, and none changes a record.
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
