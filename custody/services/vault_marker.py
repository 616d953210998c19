"""Creation of a vault's root and marker, which tell it from an empty directory and from another vault."""

import re
from pathlib import Path
from typing import cast

from django.db.models import Exists, OuterRef, Q

from accounts.models import Organization
from config.errors import DomainError, Fault
from custody import vaults
from custody.models import Entry, Installation, StorageTarget, object_key
from custody.vaults import VaultNotMarked, VaultOfAnother, VaultUnavailable, storage_targets
from custody.vaults.filesystem import FilesystemVault

_ORGANIZATION = re.compile("[0-9a-f]{32}")


class NotThisVault(DomainError):
    """The directory does not look like this installation's vault."""

    code = "not_this_vault"

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"This does not look like the vault: {reason} Mount the right disk. If this is it, and those records are "
            "elsewhere, run this again with --force, and then custody_reconcile --from DIRECTORY."
        )


class VaultNotMade(Fault):
    """The root of the vault, or its marker, cannot be read or written."""

    code = "vault_not_made"


def targets_with_a_root() -> list[StorageTarget]:
    """Return the filesystem targets of new records, and those that have records."""
    storage_targets.current()
    entries = Entry.objects.unscoped("vaults serve every organization").filter(target=OuterRef("pk"))
    targets = StorageTarget.objects.unscoped("vaults serve every organization")
    used = targets.filter(Q(retired_at=None) | Exists(entries), provider=StorageTarget.Provider.FILESYSTEM)
    return list(used.order_by("created_at"))


def mark_vault(*, target: StorageTarget, force: bool = False) -> Path | None:
    """Create the root of a filesystem target if it is missing, and put its marker.

    Args:
        target: one of `targets_with_a_root`.
        force: mark it even if the directory does not look like this installation's vault.

    Returns:
        The root, if it was marked now; None if it already had this installation's marker.

    Raises:
        NotThisVault: it has another installation's marker or records of unknown organizations, or lacks records that
            the database expects there, for example because its disk is not mounted.
        VaultNotMade: it cannot be read or written.
    """
    vault = cast(FilesystemVault, vaults.of(target.pk))
    try:
        vault.require_marker()
    except (VaultNotMarked, VaultOfAnother) as error:
        if not force:
            _require_ours(target, vault.root, error)
        installation, _ = Installation.objects.get_or_create(only=True)
        try:
            vault.mark(installation.uid)
        except OSError as cause:
            raise VaultNotMade(f"The vault cannot be made: {cause}") from cause
        return vault.root
    except VaultUnavailable as cause:
        raise VaultNotMade(f"The vault cannot be made: {cause}.") from cause
    return None


def _require_ours(target: StorageTarget, root: Path, error: VaultNotMarked | VaultOfAnother) -> None:
    if isinstance(error, VaultOfAnother):
        raise NotThisVault("It has the marker of another installation.")
    strangers = _organizations_in(root) - {id.hex for id in Organization.objects.values_list("pk", flat=True)}
    if strangers:
        raise NotThisVault(f"It holds records of {len(strangers)} organizations that this database does not know.")
    entries = Entry.objects.unscoped("vaults serve every organization")
    stored = entries.filter(target=target, state=Entry.State.STORED)
    keys = [object_key(*ids) for ids in stored.values_list("organization_id", "pk").iterator()]
    missing = sum(not (root / key).is_file() for key in keys)
    if missing:
        raise NotThisVault(f"It lacks {missing} of the {len(keys)} records that the database says are in it.")


def _organizations_in(root: Path) -> set[str]:
    return {path.name for path in root.iterdir() if _ORGANIZATION.fullmatch(path.name)} if root.is_dir() else set()
