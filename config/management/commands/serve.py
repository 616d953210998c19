import errno
import os
import socket
import sys
from functools import partial
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from config import supervisor

# granian replaces a worker that dies, and `config.web` kills a silent worker. granian's own log lines are not JSON, so
# it logs errors only. Connections are cheap, so a worker accepts many, including slow ones. A request's head that does
# not arrive in time ends its connection.
GRANIAN = [
    "config.web", "--interface", "asgi", "config.asgi:application", "--log-level", "error", "--respawn-failed-workers",
    "--http", "1", "--no-ws", "--loop", "uvloop", "--backlog", "4096", "--backpressure", "8192",
    "--http1-header-read-timeout", "20000", "--workers-kill-timeout", "8",
]  # fmt: skip
# One process a core, because Python computes in one thread at a time. At least two, so that one can die. More than that
# only make smaller commit groups.
_PROCESSES = max(2, min(os.cpu_count() or 2, 8))
WEB_SERVER = [*GRANIAN, "--workers", str(_PROCESSES)]
_CELERY = [sys.executable, "-W", "ignore", "-m", "celery", "--quiet", "-A", "config"]
# On SIGTERM a worker with a task waits for all of this time, interrupts the task, and needs 5 s more. The supervisor
# kills after 9 s.
_WORKER_SECONDS = 3
WORKER = [
    *_CELERY, "worker", "--concurrency", "1", "--loglevel", "WARNING",
    f"worker_soft_shutdown_timeout={_WORKER_SECONDS}",
]  # fmt: skip
WORKER_ENVIRONMENT = {"REMAP_SIGTERM": "SIGQUIT"}
"""Without it, a worker waits up to five minutes for its task."""


class Command(BaseCommand):
    help = (
        "Run the web server, the workers (general, custody, letters, storage, polls) and the clock together. A "
        "process that ends is restarted. A web server that cannot start, or Ctrl-C, stops all of them."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: Any, **options: Any) -> None:
        follow_port(options["port"])
        _require_free(options["host"], options["port"])
        self._replay_journal()
        part = partial(
            supervisor.Part,
            say=self.stderr.write,
            cwd=settings.BASE_DIR,
            env={**os.environ, "DATA_DIR": str(settings.DATA_DIR), "LOG_LEVEL": "WARNING", **WORKER_ENVIRONMENT},
        )
        address = ["--host", options["host"], "--port", str(options["port"])]
        schedule = ["--schedule", settings.CELERY_BEAT_SCHEDULE_FILENAME]
        parts = [
            part("web server", [sys.executable, "-m", *WEB_SERVER, *address], essential=True),
            *(
                part(name, [*WORKER, "--hostname", f"{name}@%h", "--queues", ",".join(queues)])
                for name, queues in settings.WORKER_QUEUES.items()
            ),
            part("clock", [*_CELERY, "beat", *schedule, "--loglevel", "WARNING"]),
        ]
        try:
            supervisor.run(parts)
        except supervisor.CannotStart as error:
            raise CommandError(f"{error} Everything was stopped.") from None

    def _replay_journal(self) -> None:
        """Repeat disposals that a restored database lacks, before the first request.

        If that fails, the service is not ready and keeps trying.
        """
        try:
            call_command("retention_replay", verbosity=0, stdout=self.stdout)
        except (CommandError, DatabaseError) as error:
            self.stderr.write(str(error))


def follow_port(port: int) -> None:
    """Put the port into the addresses that this process prints and its parts mail, unless BASE_URL is set."""
    if not {"BASE_URL", "BASE_URL_FILE"} & os.environ.keys():
        settings.BASE_URL = os.environ["BASE_URL"] = f"http://127.0.0.1:{port}"


def _require_free(host: str, port: int) -> None:
    """Refuse a port that is in use: two web servers could share it unnoticed, and each would get half the requests.

    This binds the port without listening, so that no client connects to the probe.
    """
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # ignore connections that have just ended
            probe.bind((host, port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CommandError(f"Port {port} is in use. Stop what listens there, or choose another port.") from None
