"""Dry runs of an ingest, for developers of the sending system. They store nothing."""

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
    """The result of a dry run. An ingest would end in `status`: created, queued, replayed, conflict or disposed."""

    decision_id: str
    status: Status
    warnings: list[RecordWarning]


@requires(Permission.INGEST_RECORDS)
def dry_run(*, caller: Caller, raw: bytes) -> DryRun:
    """Check a record without storing it. Nothing is written to the audit trail, not even for the id of another record.

    Raises:
        Invalid: the bytes are no acceptable record. The error names a probable misspelling of `decision_id`.
        Fault: there is a record of this id, but it cannot be read now.
    """
    try:
        submission = records.submission(raw, "api")
    except Invalid as error:
        raise record_warnings.with_hint(error, raw) from None
    return DryRun(
        decision_id=submission.identity,
        status=foretell(organization_id=caller.organization_id, submission=submission),
        warnings=record_warnings.find(caller.organization_id, submission),
    )
