import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from django.db import connection

from tests.throwaway import free_port, wait_for_port


class WebServer:
    """The web server as `manage.py serve` starts it, for the settings in this process's environment."""

    def __enter__(self) -> "WebServer":
        self.port = free_port()
        command = [sys.executable, "-m", "granian", "--interface", "wsgi", "config.wsgi:application"]
        command += ["--port", str(self.port), "--workers", "4", "--blocking-threads", "2", "--log-level", "error"]
        self.process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
        wait_for_port(self.port)
        return self

    def __exit__(self, *_: object) -> None:
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait()

    def cpu_seconds(self) -> float:
        """CPU time that all its processes have used so far."""
        return _cpu_seconds(lambda _, fields: int(fields[2]) == self.process.pid)  # its process group


def database_cpu_seconds() -> float:
    """CPU time that all processes of the database server have used so far; it runs on this computer."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (ours,) = cursor.fetchone()
    parent = Path(f"/proc/{ours}/stat").read_text().rpartition(")")[2].split()[1]
    return _cpu_seconds(lambda pid, fields: parent in (pid, fields[1]))


def _cpu_seconds(belongs: Callable[[str, list[str]], bool]) -> float:
    """By Linux's accounting, with what has ended since."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # the process ended meanwhile
            continue
        if belongs(stat.parent.name, fields):
            ticks += sum(int(each) for each in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")
