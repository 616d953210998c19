"""A whole machine of the service, web server, worker and clock, that can be switched off as one."""

from pathlib import Path

from tests.support.forks import CELERY, Fork
from tests.system.live import Server

# As `celery -A config beat`, but what a crash left is asked for every second.
_HASTY_CLOCK = """
import sys
from config.celery import app
app.loader.init_worker()
app.finalize()
app.conf.beat_schedule["custody.tasks.reconcile"]["schedule"] = 1
app.start(sys.argv[1:])
"""
_QUIET = ["--loglevel", "WARNING"]


class Machine(Server):
    """Nothing is prepared for it but its settings. What it writes is in `directory`."""

    def __init__(self, directory: Path, environment: dict[str, str]) -> None:
        directory.mkdir()
        super().__init__(directory, {"DATA_DIR": str(directory / "data"), **environment}, workers=1)
        self._others: list[Fork] = []

    def start(self) -> None:
        alone = ["--without-mingle", "--without-gossip", "--without-heartbeat"]
        worker = ["-A", "config", "worker", "-n", f"{self.directory.name}@%h", "-c", "1", *alone, *_QUIET]
        self._others = [
            self.fork(CELERY, worker, self.directory / "worker.log"),
            self.fork(_HASTY_CLOCK, ["beat", *_QUIET], self.directory / "clock.log"),
        ]
        super().start()

    def kill(self) -> None:
        """As a power cut would: nothing of it gets to run again."""
        for each in self._others:
            each.kill()
        super().kill()
