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

# granian replaces a worker that dies, and `config.web` kills a silent worker. What granian itself says is no JSON,
# so it speaks of errors alone. A connection costs next to nothing, so a worker takes many, slow ones too; a head that
# is not there in time ends its own.
GRANIAN = [
    "config.web", "--interface", "asgi", "config.asgi:application", "--log-level", "error", "--respawn-failed-workers",
    "--http", "1", "--no-ws", "--loop", "uvloop", "--backlog", "4096", "--backpressure", "8192",
    "--http1-header-read-timeout", "20000", "--workers-kill-timeout", "8",
]  # fmt: skip
# One process a core, for Python computes in one thread at a time; two at least, so that one can die. More only make
# smaller groups of commits.
_PROCESSES = max(2, min(os.cpu_count() or 2, 8))
WEB_SERVER = [*GRANIAN, "--workers", str(_PROCESSES)]


class Command(BaseCommand):
    help = (
        "Run the web server, a worker, one for custody, one for polls, and the clock together. A process that ends is "
        "started again; a process that cannot start ends all of them, and so does Ctrl-C."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: Any, **options: Any) -> None:
        _require_free(options["host"], options["port"])
        self._replay_journal()
        part = partial(
            supervisor.Part,
            say=self.stderr.write,
            cwd=settings.BASE_DIR,
            env={**os.environ, "DATA_DIR": str(settings.DATA_DIR), "LOG_LEVEL": "WARNING"},
        )
        address = ["--host", options["host"], "--port", str(options["port"])]
        celery = [sys.executable, "-W", "ignore", "-m", "celery", "--quiet", "-A", "config"]
        worker = [*celery, "worker", "--concurrency", "1", "--loglevel", "WARNING"]
        schedule = ["--schedule", settings.CELERY_BEAT_SCHEDULE_FILENAME]
        parts = [
            part("web server", [sys.executable, "-m", *WEB_SERVER, *address]),
            *(
                part(name, [*worker, "--hostname", f"{name}@%h", "--queues", ",".join(queues)])
                for name, queues in settings.WORKER_QUEUES.items()
            ),
            part("clock", [*celery, "beat", *schedule, "--loglevel", "WARNING"]),
        ]
        try:
            supervisor.run(parts)
        except supervisor.CannotStart as error:
            raise CommandError(f"{error} Everything was stopped.") from None

    def _replay_journal(self) -> None:
        """What was disposed of stays so in a restored database, and nobody is answered before. Where it cannot be done
        yet, the service is not ready, and goes on trying."""
        try:
            call_command("retention_replay", verbosity=0, stdout=self.stdout)
        except (CommandError, DatabaseError) as error:
            self.stderr.write(str(error))


def _require_free(host: str, port: int) -> None:
    """Two web servers could share a port without either noticing, and half of the answers would be the old one's.

    Nothing listens here: who comes at that moment would take the service for running.
    """
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections that have just ended do not count
            probe.bind((host, port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise CommandError(f"Port {port} is in use. Stop what listens there, or choose another port.") from None
