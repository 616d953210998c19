"""A machine of the service: web server, worker and clock, which can be killed together."""

from pathlib import Path

from tests.support.forks import CELERY, Fork
from tests.system.live import Server

# Like `celery -A config beat`, but the reconciler runs every second.
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
    """A machine with these settings and an empty data directory. Its files are in `directory`."""

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
        """Kill all processes at once, as a power cut does."""
        for fork in self._others:
            fork.kill()
        super().kill()
