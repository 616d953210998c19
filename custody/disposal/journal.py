"""The journal of disposals: what was disposed of, kept outside of the database, so that a restore of an older backup
brings nothing back.

Files of lines, one a disposal, each with the record's own statement, for a database that never knew the record, and
the disposal's. A line is authenticated under the organization's index key, which every backup since the
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
    """A line of the journal was not written by this service, or was changed since."""

    code = "journal_damaged"
    sentence = "The journal of disposals is damaged. An administrator must restore it from a backup."


@dataclass(frozen=True, slots=True)
class Line:
    """One disposal, as the journal has it: unsaved rows."""

    entry: Entry
    disposal: Disposal


def is_kept(organization_id: uuid.UUID) -> bool:
    """Whether disposals of the organization are written down outside of the database."""
    return bool(_places(organization_id))


def append(organization_id: uuid.UUID, disposals: Sequence[Disposal]) -> None:
    """Write disposals down, durably, before they are told as done. Without a journal nothing happens.

    Raises:
        VaultUnavailable, KeyMissing: they may be written, but do not count as such; a later call writes them again.
    """
    places = _places(organization_id)
    if not places:
        return
    _begin(places[0])
    key = f"{_prefix(organization_id)}{timezone.now():%Y%m%d%H%M%S}{uuid.uuid4().hex}"
    keys = keyring(organization_id)
    lines = [_line(keys, disposal) for disposal in disposals]
    # First, so that nobody takes the file for one of a time after a restore. What it says is committed already.
    JournalFile.objects.create(key=key, organization_id=organization_id)
    places[0].put_new(key, b"".join(lines), lockable=False)
    rows = Disposal.objects.for_organization(organization_id).filter(pk__in=[row.pk for row in disposals])
    rows.update(journaled=True)


def unknown() -> Iterator[tuple[uuid.UUID, str]]:
    """The files that the database does not know, each with its organization; of no organization that it does not know.

    Raises:
        VaultUnavailable: a journal does not answer.
    """
    for organization_id in Organization.objects.order_by("pk").values_list("pk", flat=True):
        rows = JournalFile.objects.for_organization(organization_id)
        known = set(rows.values_list("key", flat=True))
        for place in filter(_is_begun, _places(organization_id)):
            found = place.list(_prefix(organization_id))
            yield from ((organization_id, key) for key in sorted(found) if key not in known)


def read(organization_id: uuid.UUID, key: str) -> list[Line]:
    """The lines of a file, one for each record; none for an organization that has no keys: in a backup from before its
    first record nothing can come back, and no line can be compared.

    Raises:
        JournalDamaged, VaultUnavailable, KeyMissing
    """
    if not _NAME.fullmatch(key.removeprefix(_prefix(organization_id))):
        raise JournalDamaged(because="a file in the journal has a name that this service gives to none")
    if not Key.objects.for_organization(organization_id).exists():
        return []
    place = next((each for each in _places(organization_id) if each.has(key)), None)
    if place is None:
        raise JournalDamaged(because="a file of the journal is gone")
    keys = keyring(organization_id)
    lines = [_read_line(keys, line) for line in place.get(key).splitlines()]
    return list({line.entry.pk: line for line in lines}.values())


def _prefix(organization_id: uuid.UUID) -> str:
    return f"{organization_id.hex}/journal/"


def _places(organization_id: uuid.UUID) -> list[Vault]:
    """Where the journal of an organization is written, and then where it was written before."""
    place: str = settings.RETENTION_JOURNAL
    if place == STORAGE:
        targets = storage_targets.all_of(organization_id)
        return [vaults.of(each.pk) for each in targets if each.provider != StorageTarget.Provider.DATABASE]
    return [_folder(Path(place.removeprefix(FOLDER)))] if place else []


@cache
def _folder(path: Path) -> FilesystemVault:
    vault = FilesystemVault(StorageTarget(configuration={"root": str(path)}))
    Installation.objects.get_or_create(only=True)
    vault.identify()
    return vault


def _is_begun(place: Vault) -> bool:
    """Whether there is a journal at all. The database may know of none, and then a folder without a marker has none.

    Raises:
        VaultUnavailable: it does not answer, or its disk is not mounted.
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
    said = {
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
    return _encoded({**said, "mac": _mac(keys, said)}) + b"\n"


def _signed(name: str, row: Entry | Disposal) -> dict[str, str]:
    return {
        f"{name}_statement": base64.b64encode(bytes(row.statement)).decode(),
        f"{name}_signature": base64.b64encode(bytes(row.signature)).decode(),
        f"{name}_key_id": row.key_id,
    }


def _read_line(keys: Keyring, line: bytes) -> Line:
    try:
        said = json.loads(line)
        mac = said.pop("mac")
        if not hmac.compare_digest(_mac(keys, said), mac):
            raise JournalDamaged(because="a line of the journal is not authentic")
        entry = Entry(
            record_id=uuid.UUID(said["record_id"]),
            organization_id=keys.organization_id,
            kind=said["kind"],
            received_at=datetime.fromisoformat(said["received_at"]),
            target_id=said["target"],
            state=Entry.State.DISPOSED,
            **_read_signed("record", said),
        )
        disposal = Disposal(
            record=entry,
            root=uuid.UUID(said["root"]),
            policy=said["policy"],
            disposed_at=datetime.fromisoformat(said["disposed_at"]),
            journaled=True,
            **_read_signed("disposal", said),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise JournalDamaged(because="a line of the journal cannot be read") from error
    return Line(entry, disposal)


def _read_signed(name: str, said: dict[str, Any]) -> dict[str, Any]:
    return {
        "statement": base64.b64decode(said[f"{name}_statement"], validate=True),
        "signature": base64.b64decode(said[f"{name}_signature"], validate=True),
        "key_id": said[f"{name}_key_id"],
    }


def _mac(keys: Keyring, said: dict[str, Any]) -> str:
    secret = hmac.digest(keys.index_key, b"\x00journal of disposals", "sha256")  # no identity is spelled like that
    return hmac.digest(secret, _encoded(said), "sha256").hex()


def _encoded(said: dict[str, Any]) -> bytes:
    return json.dumps(said, sort_keys=True, separators=(",", ":")).encode()
