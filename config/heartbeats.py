"""Heartbeats of web processes, and the watch that kills a process without one.

A process whose GIL is held, or that a signal has stopped, cannot notice that itself. So a thread in granian's master
process, which is mostly idle, watches the workers. granian replaces the workers that it kills.

A heartbeat is the modification time of a file named by the process id. The watch counts its own looks at an unchanged
file. So neither a changed clock nor a pause of the whole machine makes a process seem silent.
"""

import asyncio
import faulthandler
import json
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

_FOLDER = "WEB_HEARTBEATS"  # environment variable that names the folder for workers
_LOOKS = 10  # looks at an unchanged heartbeat until a process counts as silent


def limit() -> float:
    """Return the seconds after which a silent web process is replaced, or 0 for never."""
    return float(os.environ.get("WEB_SILENT_SECONDS") or 30)


class Watch:
    """A watch that kills silent workers of this process.

    Args:
        folder: folder of their heartbeats.
        seconds: limit of silence.
    """

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder, self.seconds = folder, seconds
        self._seen: dict[int, tuple[int, int]] = {}

    def run(self) -> None:
        """Look at the heartbeats in a loop."""
        while True:
            time.sleep(self.seconds / _LOOKS)
            self.look()

    def look(self) -> None:
        """Kill the workers whose heartbeat has not changed for `_LOOKS` looks."""
        for file in self.folder.iterdir():
            pid = int(file.name)
            if not _is_running_child(pid):  # another program may have this id by now
                file.unlink(missing_ok=True)
                self._seen.pop(pid, None)
                continue
            beat = file.stat().st_mtime_ns
            before, looks = self._seen.get(pid, (beat, 0))
            looks = looks + 1 if beat == before else 0
            self._seen[pid] = (beat, looks)
            if looks == _LOOKS:
                _log(event="web process replaced", pid=pid, silent_seconds=self.seconds)
                os.kill(pid, signal.SIGUSR2)  # it dumps its threads' stacks, unless it is stopped
            elif looks > _LOOKS:
                os.kill(pid, signal.SIGKILL)


def watch() -> None:
    """Start a thread that watches the workers of this process."""
    if limit() > 0:
        folder = tempfile.TemporaryDirectory(prefix="heartbeats-")
        os.environ[_FOLDER] = folder.name
        threading.Thread(target=_run, args=(folder,), name="watch", daemon=True).start()


def _run(folder: "tempfile.TemporaryDirectory[str]") -> None:
    """Watch, and hold a reference to the folder, which is deleted with its object."""
    Watch(Path(folder.name), limit()).run()


def _is_running_child(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return False


def _log(**line: object) -> None:
    """Write a line in the service's log format.

    Unbuffered, because granian may fork a worker while another thread holds the lock of `sys.stderr`.
    """
    whole = {**line, "level": "error", "timestamp": datetime.now(UTC).isoformat()}
    with suppress(OSError):
        os.write(2, f"{json.dumps(whole)}\n".encode())


async def beat(is_alive: Callable[[], bool]) -> None:
    """Touch the file of this process while its event loop runs. Return at once if no master watches.

    Args:
        is_alive: whether the parts outside of the event loop are alive too.
    """
    folder = os.environ.get(_FOLDER)
    if not folder:
        return
    faulthandler.register(signal.SIGUSR2)  # dumps all threads' stacks without the GIL
    file = Path(folder, str(os.getpid()))
    with suppress(FileNotFoundError):  # the master has ended
        while True:
            if is_alive():
                file.touch()
            await asyncio.sleep(limit() / _LOOKS)
