"""Custody of records: storing them, and finishing work that a crash or an outage interrupted."""

from custody.rows.new_records import LEASE, Submission
from custody.services.complete import ParentMissing
from custody.services.custody_alerts import (
    note_key_outages,
    send_damage_alerts,
    send_key_alerts,
    send_storage_alerts,
)
from custody.services.custody_test import CustodyTest, run_custody_test
from custody.services.dispose import BATCH, dispose, finish_all_disposals, finish_disposals, prepare
from custody.services.distant_leases import shorten_distant_leases
from custody.services.group_store import GroupStore
from custody.services.keys import ROTATABLE, KeyNotProven, NeverRotated, import_key_file, rotate_key
from custody.services.moving import Move, move_records, not_at
from custody.services.recalling import recall
from custody.services.reconciler import NotListed, adopt_orphans, reconcile
from custody.services.repair import Found, outside_the_database, repair_vaults, stored_records
from custody.services.replay import replay, require_replayed
from custody.services.searching import search_earlier_targets
from custody.services.storage import DEPLOYMENT, StorageRefused, choose_cloud, choose_deployments, choose_target
from custody.services.storage_watch import watch_targets
from custody.services.store import TAKEN, Status, StoreResult, foretell, store_records
from custody.services.vault_marker import NotThisVault, VaultNotMade, mark_vault, targets_with_a_root

__all__ = [
    "BATCH",
    "DEPLOYMENT",
    "LEASE",
    "ROTATABLE",
    "TAKEN",
    "CustodyTest",
    "Found",
    "GroupStore",
    "KeyNotProven",
    "Move",
    "NeverRotated",
    "NotListed",
    "NotThisVault",
    "ParentMissing",
    "Status",
    "StorageRefused",
    "StoreResult",
    "Submission",
    "VaultNotMade",
    "adopt_orphans",
    "choose_cloud",
    "choose_deployments",
    "choose_target",
    "dispose",
    "finish_all_disposals",
    "finish_disposals",
    "foretell",
    "import_key_file",
    "mark_vault",
    "move_records",
    "not_at",
    "note_key_outages",
    "outside_the_database",
    "prepare",
    "recall",
    "reconcile",
    "repair_vaults",
    "replay",
    "require_replayed",
    "rotate_key",
    "run_custody_test",
    "search_earlier_targets",
    "send_damage_alerts",
    "send_key_alerts",
    "send_storage_alerts",
    "shorten_distant_leases",
    "store_records",
    "stored_records",
    "targets_with_a_root",
    "watch_targets",
]
