"""Journal of disposals, kept outside the database, so that restoring an older backup does not bring records back.

Its files have a line for each disposal, with the disposal's statement and, for a database that never had the record,
the record's own statement. A line is authenticated with the organization's index key, which every backup since the
organization's first record has; a signing key may be younger than the backup.
"""

import base64
import hmac
import json
import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from accounts.models import Organization
from config.errors import Fault
from config.http.timestamps import rfc3339
from custody import vaults
from custody.keys.keyrings import Keyring, keyring
from custody.models import Disposal, Entry, Installation, JournalFile, Key, StorageTarget
from custody.vaults import Vault, VaultNotMarked, VaultUnavailable, storage_targets
from custody.vaults.filesystem import FilesystemVault

STORAGE = "storage"
FOLDER = "folder:"
_NAME = re.compile("[0-9a-f]{14,64}")


class JournalDamaged(Fault):
    """A line of the journal was not written by this service, or has been changed."""

    code = "journal_damaged"
    sentence = "The journal of disposals is damaged. An administrator must restore it from a backup."


@dataclass(frozen=True, slots=True)
class Line:
    """One disposal from the journal, as unsaved rows."""

    entry: Entry
    disposal: Disposal


def is_kept(organization_id: uuid.UUID) -> bool:
    """Whether the organization's disposals are written into a journal."""
    return bool(_places(organization_id))


def append(organization_id: uuid.UUID, disposals: Sequence[Disposal]) -> None:
    """Write disposals durably, before they count as finished. Does nothing without a journal.

    Raises:
        VaultUnavailable, KeyMissing: they may be written but do not count as written; a later call writes them again.
    """
    places = _places(organization_id)
    if not places:
        return
    _begin(places[0])
    key = f"{_prefix(organization_id)}{timezone.now():%Y%m%d%H%M%S}{uuid.uuid4().hex}"
    keys = keyring(organization_id)
    lines = [_line(keys, disposal) for disposal in disposals]
    # Before the file, so that no other process replays it as unknown. Its disposals are committed already.
    JournalFile.objects.create(key=key, organization_id=organization_id)
    places[0].put_new(key, b"".join(lines), lockable=False)
    rows = Disposal.objects.for_organization(organization_id).filter(pk__in=[row.pk for row in disposals])
    rows.update(journaled=True)


def unknown() -> Iterator[tuple[uuid.UUID, str]]:
    """Yield the files that the database does not have, with their organizations, which must be in the database.

    Raises:
        VaultUnavailable: a journal does not answer.
    """
    for organization_id in Organization.objects.order_by("pk").values_list("pk", flat=True):
        rows = JournalFile.objects.for_organization(organization_id)
        known = set(rows.values_list("key", flat=True))
        for place in filter(_is_begun, _places(organization_id)):
            keys = place.list(_prefix(organization_id))
            yield from ((organization_id, key) for key in sorted(keys) if key not in known)


def read(organization_id: uuid.UUID, key: str) -> list[Line]:
    """Return the lines of a file, one for each record; none if the organization has no keys. Then the backup is from
    before its first record: no record can come back, and no line can be authenticated.

    Raises:
        JournalDamaged, VaultUnavailable, KeyMissing
    """
    if not _NAME.fullmatch(key.removeprefix(_prefix(organization_id))):
        raise JournalDamaged(because="a file of the journal has a name that this service does not give")
    if not Key.objects.for_organization(organization_id).exists():
        return []
    place = next((place for place in _places(organization_id) if place.has(key)), None)
    if place is None:
        raise JournalDamaged(because="a file of the journal is gone")
    keys = keyring(organization_id)
    lines = [_read_line(keys, line) for line in place.get(key).splitlines()]
    return list({line.entry.pk: line for line in lines}.values())


def _prefix(organization_id: uuid.UUID) -> str:
    return f"{organization_id.hex}/journal/"


def _places(organization_id: uuid.UUID) -> list[Vault]:
    """Return the places of an organization's journal: the current one, then former ones."""
    place: str = settings.RETENTION_JOURNAL
    if place == STORAGE:
        targets = storage_targets.all_of(organization_id)
        return [vaults.of(target.pk) for target in targets if target.provider != StorageTarget.Provider.DATABASE]
    return [_folder(Path(place.removeprefix(FOLDER)))] if place else []


@cache
def _folder(path: Path) -> FilesystemVault:
    vault = FilesystemVault(StorageTarget(configuration={"root": str(path)}))
    Installation.objects.get_or_create(only=True)
    vault.identify()
    return vault


def _is_begun(place: Vault) -> bool:
    """Whether the journal exists. A folder without a marker has none if the database has no journal files.

    Raises:
        VaultUnavailable: the place does not answer, or its disk is not mounted.
    """
    if not isinstance(place, FilesystemVault) or settings.RETENTION_JOURNAL == STORAGE:
        return True
    try:
        place.require_marker()
    except VaultNotMarked:
        if JournalFile.objects.unscoped("one folder serves every organization").exists():
            raise
        return False
    return True


def _begin(place: Vault) -> None:
    if isinstance(place, FilesystemVault) and not _is_begun(place):
        try:
            place.root.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            place.mark(Installation.objects.get().uid)
        except OSError as error:
            raise VaultUnavailable(because=f"the journal cannot be made ({error.strerror})") from error


def _line(keys: Keyring, disposal: Disposal) -> bytes:
    entry = disposal.record
    content = {
        "record_id": str(entry.pk),
        "kind": entry.kind,
        "received_at": rfc3339(entry.received_at),
        "target": entry.target_id,
        **_signed("record", entry),
        "root": str(disposal.root),
        "policy": disposal.policy,
        "disposed_at": rfc3339(disposal.disposed_at),
        **_signed("disposal", disposal),
    }
    return _encoded({**content, "mac": _mac(keys, content)}) + b"\n"


def _signed(name: str, row: Entry | Disposal) -> dict[str, str]:
    return {
        f"{name}_statement": base64.b64encode(bytes(row.statement)).decode(),
        f"{name}_signature": base64.b64encode(bytes(row.signature)).decode(),
        f"{name}_key_id": row.key_id,
    }


def _read_line(keys: Keyring, line: bytes) -> Line:
    try:
        content = json.loads(line)
        mac = content.pop("mac")
        if not hmac.compare_digest(_mac(keys, content), mac):
            raise JournalDamaged(because="a line of the journal is not authentic")
        entry = Entry(
            record_id=uuid.UUID(content["record_id"]),
            organization_id=keys.organization_id,
            kind=content["kind"],
            received_at=datetime.fromisoformat(content["received_at"]),
            target_id=content["target"],
            state=Entry.State.DISPOSED,
            **_read_signed("record", content),
        )
        disposal = Disposal(
            record=entry,
            root=uuid.UUID(content["root"]),
            policy=content["policy"],
            disposed_at=datetime.fromisoformat(content["disposed_at"]),
            journaled=True,
            **_read_signed("disposal", content),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise JournalDamaged(because="a line of the journal cannot be read") from error
    return Line(entry, disposal)


def _read_signed(name: str, content: dict[str, Any]) -> dict[str, Any]:
    return {
        "statement": base64.b64decode(content[f"{name}_statement"], validate=True),
        "signature": base64.b64decode(content[f"{name}_signature"], validate=True),
        "key_id": content[f"{name}_key_id"],
    }


def _mac(keys: Keyring, content: dict[str, Any]) -> str:
    secret = hmac.digest(keys.index_key, b"\x00journal of disposals", "sha256")  # no identity has this spelling
    return hmac.digest(secret, _encoded(content), "sha256").hex()


def _encoded(content: dict[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
