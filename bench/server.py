import os
import signal
import subprocess
import sys
from pathlib import Path

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
        """CPU time that all its processes have used so far, by Linux's accounting."""
        ticks = 0
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rsplit(")", 1)[1].split()
            except OSError:  # the process ended meanwhile
                continue
            if int(fields[2]) == self.process.pid:  # its process group
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")
