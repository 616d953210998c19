"""What would become of a record, for those who build the system that sends them. Nothing of it is kept."""

from dataclasses import dataclass

from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config.errors import Invalid
from custody.services import Status, foretell
from decisions import record_warnings, records
from decisions.record_warnings import RecordWarning


@dataclass(frozen=True, slots=True)
class DryRun:
    """`status` is what an ingest would end in: created, queued, replayed, conflict or disposed."""

    decision_id: str
    status: Status
    warnings: list[RecordWarning]


@requires(Permission.INGEST_RECORDS)
def dry_run(*, caller: Caller, raw: bytes) -> DryRun:
    """Everything that can be said of a record before it is sent for good. An attempt at another record's id is no
    conflict yet, so the audit trail says nothing of it.

    Raises:
        Invalid: the bytes are no acceptable record; it names a key that may be a misspelt `decision_id`.
        Fault: a record of this id is there and cannot be read now.
    """
    try:
        submission = records.submission(raw, "api")
    except Invalid as error:
        raise record_warnings.explained(error, raw) from None
    return DryRun(
        decision_id=submission.identity,
        status=foretell(organization_id=caller.organization_id, submission=submission),
        warnings=record_warnings.find(caller.organization_id, submission),
    )
