"""Heartbeats of web processes, and the watch that kills a process without one.

A process that holds the GIL, or that a signal has stopped, cannot notice it itself. granian's master process has next
to nothing to do, so a thread in it watches the workers. granian replaces the worker that the watch kills.

A heartbeat is the time of a file named by the process id. The watch counts its own looks at an unchanged file: no clock
that an operator sets, and no pause of the whole machine, makes a process look silent.
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

_FOLDER = "WEB_HEARTBEATS"  # the environment variable that tells workers the folder
_LOOKS = 10  # at an unchanged heartbeat, until the limit is reached


def limit() -> float:
    """Seconds without an answer after which a web process is replaced; 0 means never."""
    return float(os.environ.get("WEB_SILENT_SECONDS") or 30)


class Watch:
    """Kills silent workers of this process.

    Args:
        folder: of their heartbeats.
        seconds: the limit.
    """

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder, self.seconds = folder, seconds
        self._seen: dict[int, tuple[int, int]] = {}

    def run(self) -> None:
        """Look for ever."""
        while True:
            time.sleep(self.seconds / _LOOKS)
            self.look()

    def look(self) -> None:
        """Kill the workers whose heartbeat has not changed for so many looks."""
        for file in self.folder.iterdir():
            pid = int(file.name)
            if not _is_running_child(pid):  # another program may have its id by now
                file.unlink(missing_ok=True)
                self._seen.pop(pid, None)
                continue
            beat = file.stat().st_mtime_ns
            before, looks = self._seen.get(pid, (beat, 0))
            looks = looks + 1 if beat == before else 0
            self._seen[pid] = (beat, looks)
            if looks == _LOOKS:
                _log(event="web process replaced", pid=pid, silent_seconds=self.seconds)
                os.kill(pid, signal.SIGUSR2)  # it writes where its threads are, unless it is stopped
            elif looks > _LOOKS:
                os.kill(pid, signal.SIGKILL)


def watch() -> None:
    """Watch the workers that this process is about to start, in a thread beside."""
    if limit() > 0:
        folder = tempfile.TemporaryDirectory(prefix="heartbeats-")
        os.environ[_FOLDER] = folder.name
        threading.Thread(target=_run, args=(folder,), name="watch", daemon=True).start()


def _run(folder: "tempfile.TemporaryDirectory[str]") -> None:
    """Keep the folder, which is removed with its object."""
    Watch(Path(folder.name), limit()).run()


def _is_running_child(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return False


def _log(**line: object) -> None:
    """Write a line as the service does. Unbuffered: granian may fork a worker while another thread holds the lock of
    `sys.stderr`."""
    whole = {**line, "level": "error", "timestamp": datetime.now(UTC).isoformat()}
    with suppress(OSError):
        os.write(2, f"{json.dumps(whole)}\n".encode())


async def beat(is_alive: Callable[[], bool]) -> None:
    """Touch the file of this process while its event loop runs. Return at once if no master watches.

    Args:
        is_alive: whether what the event loop cannot tell by itself is alive too.
    """
    folder = os.environ.get(_FOLDER)
    if not folder:
        return
    faulthandler.register(signal.SIGUSR2)  # shows the places of all threads, without the GIL
    file = Path(folder, str(os.getpid()))
    with suppress(FileNotFoundError):  # the master has ended
        while True:
            if is_alive():
                file.touch()
            await asyncio.sleep(limit() / _LOOKS)
