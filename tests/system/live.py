"""A real server for tests: granian in separate processes, on a free port, with its own database and DATA_DIR."""

import http.client
import json
import os
import random
import secrets
import socket
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from urllib3.util.wait import wait_for_read

from config.management.commands.serve import GRANIAN
from tests import databases
from tests.support.forks import CELERY, MANAGE, Fork, Service
from tests.threads import HANGS_SECONDS

_INHERITED = ("PATH", "HOME", "LANG", "TMPDIR")
_GRANIAN = "from config.web import main; main()"
_WSGI = [
    "granian", "--interface", "wsgi", "config.wsgi:application", "--log-level", "error", "--blocking-threads", "8",
    "--workers-kill-timeout", "8",
]  # fmt: skip


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """A keep-alive connection with an API key; close it, or use it in a `with` statement. The client reconnects if the
    server has closed an idle connection."""

    def __init__(self, port: int, key: str) -> None:
        self.key = key
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANGS_SECONDS)

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Send a request. Header names have underscores for dashes. A list or iterator is sent in chunks."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json", **named}
        if self.connection.sock and wait_for_read(self.connection.sock, timeout=0):  # readable only if closed
            self.connection.close()
        self.connection.request(method, path, body, sent)
        response = self.connection.getresponse()
        return Answer(response.status, response.headers, response.read())

    def get(self, path: str) -> Answer:
        return self.request("GET", path)

    def ingest(self, record: bytes) -> Answer:
        return self.request("POST", "/v1/ingest/srf", record)

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Server:
    """A running service. Its processes, and `manage`, have only `environment`."""

    def __init__(self, directory: Path, environment: dict[str, str], workers: int, interface: str = "asgi") -> None:
        self.directory, self.workers, self.port, self.interface = directory, workers, lasting_port(), interface
        self.command = GRANIAN if interface == "asgi" else _WSGI
        self.base_url = f"http://127.0.0.1:{self.port}"
        self.data_dir = Path(environment["DATA_DIR"])
        self.log = directory / "server.log"
        inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        self.environment = {**inherited, "BASE_URL": self.base_url, **environment}
        self.key = ""
        self.process: Fork | None = None
        self._service: Service | None = None

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def start(self) -> None:
        """Start granian as `manage.py serve` does, in a new process group, and wait until it answers."""
        options = f"--host 127.0.0.1 --port {self.port} --workers {self.workers}"
        arguments = [*self.command[1:], *options.split()]
        self.process = self.fork(_GRANIAN, arguments, self.log)
        wait_until(lambda: listens(self.port) or self.process.poll() is not None, "the server answers")
        assert self.process.poll() is None, f"the server ended:\n{self.log.read_text()}"

    def kill(self) -> None:
        """Kill every process of the server at once, as a power cut does."""
        if self.process is None:
            return
        self.process.kill()
        self.process = None
        wait_until(lambda: not listens(self.port), "the port of the killed processes is free")

    def end(self) -> None:
        """Kill the server and end the process with the imports: the next start reads and checks the settings again."""
        self.kill()
        if self._service is not None:
            self._service.end()
            self._service = None

    def fork(self, program: str, arguments: Sequence[str], output: Path, **others: Path) -> Fork:
        """Run a process of the service, see `Service.fork`."""
        if self._service is None:
            self._service = Service(f"config.{self.interface}", self.environment, self.log)
        return self._service.fork(program, arguments, output, **others)

    def stop(self) -> int:
        """Ask the server to end, and return its exit code."""
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(HANGS_SECONDS)

    def answered_by_lane(self) -> int:
        """Count the records that the front has answered without Django."""
        return self.log.read_text().count('"by": "lane"')

    def client(self, key: str | None = None) -> Client:
        return Client(self.port, self.key if key is None else key)

    def manage(self, *arguments: str) -> str:
        """Run a command of manage.py, and return its output. Raises AssertionError if the command fails."""
        printed = self.directory / f"{arguments[0]}-{secrets.token_hex(4)}"
        errors = printed.with_suffix(".errors")
        code = self.fork(MANAGE, arguments, printed, errors=errors).wait()
        assert code == 0, f"{arguments} failed:\n{printed.read_text()}{errors.read_text()}"
        return printed.read_text().strip()

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement in the server's database, without the application."""
        url = self.environment["DATABASE_URL"]
        if url.startswith("sqlite"):
            with closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=HANGS_SECONDS)) as database, database:
                return database.execute(statement).fetchall()
        with psycopg.connect(url) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []


@contextmanager
def server(
    *,
    database_url: str | None = None,
    data_dir: Path | None = None,
    workers: int = 2,
    log: Path | None = None,
    interface: str = "asgi",
    application: str = "",
    **environment: str,
) -> Iterator[Server]:
    """Run a migrated service with one organization and its owner's key.

    Args:
        database_url: an empty database, or a file for SQLite; by default a new database of the suite's kind.
        log: the file for its output; by default a file in `Server.directory`.
        interface: `wsgi` for Django without the front.
        application: replaces `config.asgi:application`.
        environment: further settings of the service.
    """
    with tempfile.TemporaryDirectory(prefix="drs-live-") as directory:
        data = data_dir or Path(directory) / "data"
        vault = environment.get("CUSTODY_VAULT", "database")
        with databases.installation(database_url, data, vault) as (url, key):
            started = Server(
                Path(directory), {"DATA_DIR": str(data), "DATABASE_URL": url, **environment}, workers, interface
            )
            started.log, started.key = log or started.log, key
            if application:
                started.command = [application if "asgi:" in word else word for word in started.command]
            started.start()
            try:
                yield started
            finally:
                started.end()


@contextmanager
def worker(live: Server, log: Path | None = None) -> Iterator[None]:
    """Run a worker of the service, and wait until it consumes its queue.

    Until then the queue in files may lose a wake-up. A clock would repeat it, but none runs here.

    Args:
        log: the file for its output; by default a file in `Server.directory`.
    """
    arguments = ["-A", "config", "worker", "--concurrency", "1"]
    process = live.fork(CELERY, arguments, log or live.directory / "worker.log")
    try:
        last_queue = live.data_dir / "broker" / "control" / "celery.pidbox.exchange"
        wait_until(lambda: live.environment.get("REDIS_URL") or last_queue.exists(), "the worker is there")
        yield
    finally:
        process.kill()


def lasting_port() -> int:
    """Return a free port for a server that restarts while clients try to connect.

    The port is outside the ephemeral range: otherwise a client's own socket may get it, and connect to itself.
    """
    while True:
        port = random.SystemRandom().randint(10_000, 30_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_until(condition: Callable[[], Any], what: str) -> Any:
    """Poll until `condition` is true, and return its value. Polls less often if the condition is slow or takes long."""
    began = time.monotonic()
    while True:
        asked = time.monotonic()
        if value := condition():
            return value
        now = time.monotonic()
        assert now < began + HANGS_SECONDS, f"waited {HANGS_SECONDS} s in vain until {what}"
        time.sleep(min(0.01 + 3 * (now - asked) + 0.01 * (now - began), 1))


def group(leader: int) -> list[int]:
    """Return the running processes of the process group of `leader`, itself included."""
    return [pid for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) if _runs_in_group(pid, leader)]


def _runs_in_group(pid: int, leader: int) -> bool:
    try:
        state, _, process_group = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:3]
    except OSError:  # the process has ended
        return False
    return int(process_group) == leader and state != "Z"
