"""Connectors this machine cannot read, because it lacks a secret, a folder or a network that other machines have.

The process leaves such a connector alone for a while, else it would win each claim: it fails fastest. A file in
DATA_DIR tells the web server of the same machine, for `/readyz`.
"""

import time
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import structlog
from django.conf import settings

from config import retries
from connectors.models import Connector

log = structlog.get_logger("connectors")

MAX_PAUSE = timedelta(minutes=5)
_STALE_SECONDS = 900
"""A file that no process has touched for so long is out of date."""
_FOLDER = "connectors_unserved"


@dataclass(frozen=True, slots=True)
class _Pause:
    version: int
    failures: int
    ends: float  # time.monotonic()


_pauses: dict[int, _Pause] = {}


class Unserved(Exception):
    """Connectors are due that this machine cannot read."""


def leave(connector: Connector) -> None:
    """Have this process leave a connector alone: longer after each failure, until its settings change."""
    last = _pauses.get(connector.pk)
    failures = last.failures + 1 if last and last.version == connector.version else 1
    pause = retries.pause(failures, MAX_PAUSE).total_seconds()
    _pauses[connector.pk] = _Pause(connector.version, failures, time.monotonic() + pause)
    try:
        _folder().mkdir(mode=0o700, exist_ok=True)
        _note(connector).touch()
    except OSError as error:
        log.warning("a connector this machine cannot read is not shown in /readyz", exc_info=error)


def serve(connector: Connector) -> None:
    """Forget the failures of a connector that this machine has read."""
    if _pauses.pop(connector.pk, None):
        _note(connector).unlink(missing_ok=True)


def now() -> list[int]:
    """Return the ids of the connectors to skip. A change of settings ends the pause."""
    paused = {pk: pause.version for pk, pause in _pauses.items() if pause.ends > time.monotonic()}
    if not paused:
        return []
    rows = Connector.objects.unscoped("workers serve every organization").filter(pk__in=paused)
    return [pk for pk, version in rows.values_list("pk", "version") if paused[pk] == version]


def source_ids() -> list[str]:
    """Return the `source_id` of each connector that a process of this machine could not read lately."""
    try:
        notes = list(_folder().iterdir())
    except FileNotFoundError:
        return []
    return sorted(note.name for note in notes if _is_fresh(note))


def require_none() -> None:
    """Raise Unserved while this machine cannot read a connector. Used by /readyz."""
    if ids := source_ids():
        raise Unserved(", ".join(ids))


def _is_fresh(note: Path) -> bool:
    try:
        is_fresh = time.time() - note.stat().st_mtime < _STALE_SECONDS
        if not is_fresh:
            note.unlink()
    except FileNotFoundError:
        return False
    return is_fresh


def _note(connector: Connector) -> Path:
    return _folder() / str(connector.source_id)


def _folder() -> Path:
    return Path(settings.DATA_DIR) / _FOLDER
