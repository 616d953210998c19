"""The real server for tests: granian in processes of its own, on a free port, with its own database and DATA_DIR."""

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

_KEPT = ("PATH", "HOME", "LANG", "TMPDIR")
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
    """One keep-alive connection with an API key; to be closed, or used in a `with` statement. Another one takes its
    place once the server has ended it, as it does with those that are idle for long."""

    def __init__(self, port: int, key: str) -> None:
        self.key = key
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANGS_SECONDS)

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Headers are given with underscores. A body of a list or iterator is sent in chunks."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json", **named}
        if self.connection.sock and wait_for_read(self.connection.sock, timeout=0):  # its end is all that can come
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
    """A running service. `environment` is all that its processes, and `manage`, know of this machine."""

    def __init__(self, directory: Path, environment: dict[str, str], workers: int, interface: str = "asgi") -> None:
        self.directory, self.workers, self.port, self.interface = directory, workers, lasting_port(), interface
        self.command = GRANIAN if interface == "asgi" else _WSGI
        self.base_url = f"http://127.0.0.1:{self.port}"
        self.data_dir = Path(environment["DATA_DIR"])
        self.log = directory / "server.log"
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        self.environment = {**kept, "BASE_URL": self.base_url, **environment}
        self.key = ""
        self.process: Fork | None = None
        self._service: Service | None = None

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def start(self) -> None:
        """Start granian as `manage.py serve` does, in a process group of its own, and wait until it answers."""
        options = f"--host 127.0.0.1 --port {self.port} --workers {self.workers}"
        arguments = [*self.command[1:], *options.split()]
        self.process = self.fork(_GRANIAN, arguments, self.log)
        wait_until(lambda: listens(self.port) or self.process.poll() is not None, "the server answers")
        assert self.process.poll() is None, f"the server ended:\n{self.log.read_text()}"

    def kill(self) -> None:
        """End every process of the server at once, as a power cut would; nothing of it gets to run again."""
        if self.process is None:
            return
        self.process.kill()
        self.process = None
        wait_until(lambda: not listens(self.port), "the killed processes have let go of their port")

    def end(self) -> None:
        """Forget what was imported, too: the next start reads the settings anew and makes the checks of a start."""
        self.kill()
        if self._service is not None:
            self._service.end()
            self._service = None

    def fork(self, program: str, arguments: Sequence[str], output: Path, **others: Path) -> Fork:
        """A process beside the server, see `Service.fork`."""
        if self._service is None:
            self._service = Service(f"config.{self.interface}", self.environment, self.log)
        return self._service.fork(program, arguments, output, **others)

    def stop(self) -> int:
        """Ask the server to end. Returns its exit code."""
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(HANGS_SECONDS)

    def answered_by_lane(self) -> int:
        """How many records the front has taken without Django."""
        return self.log.read_text().count('"by": "lane"')

    def client(self, key: str | None = None) -> Client:
        return Client(self.port, self.key if key is None else key)

    def manage(self, *arguments: str) -> str:
        """What a command of manage.py prints. Raises if it fails."""
        printed = self.directory / f"{arguments[0]}-{secrets.token_hex(4)}"
        errors = printed.with_suffix(".errors")
        code = self.fork(MANAGE, arguments, printed, errors=errors).wait()
        assert code == 0, f"{arguments} failed:\n{printed.read_text()}{errors.read_text()}"
        return printed.read_text().strip()

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        """Run one statement in the server's database, past the application."""
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
    """A service that is migrated, has one organization and its owner's key, and answers.

    Args:
        database_url: of an empty database, or a file that SQLite makes; else a new one of the kind the suite runs on.
        log: where its output goes; else to a file in `Server.directory`.
        interface: `wsgi` for Django without the front.
        application: served in the place of `config.asgi:application`.
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
    """A worker beside the service, once it takes what is queued.

    A wake-up that comes while the queue in files learns who takes from it may be lost. The clock would repeat it, but
    none runs here.

    Args:
        log: where its output goes; else to a file in `Server.directory`.
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
    """A free port for a server that goes away and comes back while clients keep knocking.

    Not one that the system hands out itself: a client's own end may get such a port, and then it talks to itself.
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
    """Poll until `condition` is true and return its value. What takes long, to find out or to come, is asked less
    often."""
    began = time.monotonic()
    while True:
        asked = time.monotonic()
        if found := condition():
            return found
        now = time.monotonic()
        assert now < began + HANGS_SECONDS, f"waited {HANGS_SECONDS} s in vain until {what}"
        time.sleep(min(0.01 + 3 * (now - asked) + 0.01 * (now - began), 1))


def group(leader: int) -> list[int]:
    """The running processes of the process group that `leader` leads, itself included."""
    return [pid for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) if _runs_in_group(pid, leader)]


def _runs_in_group(pid: int, leader: int) -> bool:
    try:
        state, _, process_group = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:3]
    except OSError:  # it ended while we looked
        return False
    return int(process_group) == leader and state != "Z"
