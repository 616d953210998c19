"""Taking custody of records, and finishing what a crash or an outage left unfinished."""

from custody.services.custody_test import CustodyTest, run_custody_test
from custody.services.key_alerts import note_key_outages, send_key_alerts
from custody.services.keys import ROTATABLE, KeyNotProven, NeverRotated, import_key_file, rotate_key
from custody.services.reconciler import adopt_orphans, recall, reconcile
from custody.services.repair import Found, outside_the_database, repair_vaults
from custody.services.storage import choose_target
from custody.services.store import LEASE, TAKEN, Status, StoreResult, Submission, store_records
from custody.services.vault_marker import NotThisVault, VaultNotMade, mark_vault, targets_with_a_root

__all__ = [
    "LEASE",
    "ROTATABLE",
    "TAKEN",
    "CustodyTest",
    "Found",
    "KeyNotProven",
    "NeverRotated",
    "NotThisVault",
    "Status",
    "StoreResult",
    "Submission",
    "VaultNotMade",
    "adopt_orphans",
    "choose_target",
    "import_key_file",
    "mark_vault",
    "note_key_outages",
    "outside_the_database",
    "recall",
    "reconcile",
    "repair_vaults",
    "rotate_key",
    "run_custody_test",
    "send_key_alerts",
    "store_records",
    "targets_with_a_root",
]
