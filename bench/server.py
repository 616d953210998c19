"""Measured web servers, and the CPU time of a web server and of the database server."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from django.db import connection

from config.management.commands.serve import WEB_SERVER
from tests.throwaway import free_port, wait_for_port

if TYPE_CHECKING:
    from bench.load import Load

OURS = [sys.executable, "-m", *WEB_SERVER]
"""The web server that `manage.py serve` starts."""
PEER_PYTHON = Path(__file__).parent.parent / ".cache/peers/bin/python"
_PROCESSES = WEB_SERVER[WEB_SERVER.index("--workers") + 1]
FASTAPI = [
    PEER_PYTHON, "-m", "granian", "--interface", "asgi", "bench.peers.fastapi_ingest:application", "--loop", "uvloop",
    "--http", "1", "--no-ws", "--log-level", "error", "--workers", _PROCESSES,
]  # fmt: skip
_SETTLE_SECONDS = 0.3


class WebServer:
    """A web server with the settings of this process's environment and of `environment`."""

    def __init__(self, command: Sequence[object] = OURS, **environment: str) -> None:
        self.command = [str(part) for part in command]
        # LOG_LEVEL as `manage.py serve` sets it.
        self.environment = {**os.environ, "LOG_LEVEL": "WARNING", **environment}

    def __enter__(self) -> "WebServer":
        self.port = free_port()
        command = [*self.command, "--host", "127.0.0.1", "--port", str(self.port)]
        self.process = subprocess.Popen(
            command, start_new_session=True, stderr=subprocess.DEVNULL, env=self.environment
        )
        wait_for_port(self.port)
        return self

    def __exit__(self, *_: object) -> None:
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait()

    def cpu_seconds(self) -> float:
        """Return the CPU time that all its processes have used so far."""
        return _cpu_seconds(lambda _, fields: int(fields[2]) == self.process.pid)  # its process group


@dataclass(frozen=True)
class Run:
    """The result of a load, with the CPU time of a record in the web server and in the database."""

    rate: float
    p99_milliseconds: float
    web_microseconds: float
    database_microseconds: float

    @property
    def microseconds(self) -> float:
        return self.web_microseconds + self.database_microseconds


def metered(server: WebServer, send: Callable[[], "Load"], in_flight: int = 0) -> Run:
    """Send a load and measure it. Exits unless every answered record is stored and none is refused.

    Args:
        in_flight: requests that may be unanswered when the load stops. Their records may be stored.
    """
    from custody.models import Entry  # this module is also imported before Django is set up

    time.sleep(_SETTLE_SECONDS)  # so that the work left by the last load is not counted
    rows, web, database = Entry.objects.count(), server.cpu_seconds(), database_cpu_seconds()
    load = send()
    web, database = server.cpu_seconds() - web, database_cpu_seconds() - database
    new = Entry.objects.count() - rows
    if load.failed or not load.stored <= new <= load.stored + in_flight:
        raise SystemExit(f"{load.stored} records were answered as created, {load.failed} failed, {new} rows are there")
    return Run(load.rate, load.p99_milliseconds, web / new * 1e6, database / new * 1e6)


def database_cpu_seconds() -> float:
    """Return the CPU time that all processes of the local database server have used so far. SQLite has no server: 0."""
    if connection.vendor == "sqlite":
        return 0.0
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (ours,) = cursor.fetchone()
    parent = Path(f"/proc/{ours}/stat").read_text().rpartition(")")[2].split()[1]
    return _cpu_seconds(lambda pid, fields: parent in (pid, fields[1]))


def _cpu_seconds(belongs: Callable[[str, list[str]], bool]) -> float:
    """Return the CPU time of matching processes and of their ended children, from Linux's /proc."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # the process has ended
            continue
        if belongs(stat.parent.name, fields):
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")
