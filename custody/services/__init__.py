"""Taking custody of records, and finishing what a crash or an outage left unfinished."""

from custody.services.reconciling import adopt_orphans, reconcile
from custody.services.taking import LEASE, Status, Submission, Taken, take

__all__ = ["LEASE", "Status", "Submission", "Taken", "adopt_orphans", "reconcile", "take"]
