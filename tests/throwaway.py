"""Temporary PostgreSQL and Redis servers, on free loopback ports and in a temporary directory."""

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DURABLE = {}
FAST = {
    "fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off",
    "wal_level": "minimal", "max_wal_senders": "0", "update_process_title": "off", "checkpoint_timeout": "1h",
    "join_collapse_limit": "1",  # planning the order of joins takes longer than reading so few rows
}  # fmt: skip
_LINUX_VERSIONS = "/usr/lib/postgresql/*/bin"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def postgresql_program(name: str) -> str:
    """Return the path of a PostgreSQL program, of the newest installed version."""
    versions = sorted(Path("/").glob(_LINUX_VERSIONS[1:]), key=lambda path: int(path.parent.name))
    program = shutil.which(name, path=os.pathsep.join([str(p) for p in reversed(versions)] + [os.environ["PATH"]]))
    if program is None:
        raise SystemExit(f"PostgreSQL's {name} is missing: run `make services`.")
    return program


@contextmanager
def postgresql(settings: dict[str, str]) -> Iterator[str]:
    """Yield the server's URL, which ends with a slash: add the name of a database."""
    with tempfile.TemporaryDirectory(prefix="drs-postgresql-") as directory:
        port, password = free_port(), secrets.token_hex(16)
        data, secret = Path(directory) / "data", Path(directory) / "password"
        secret.write_text(password)
        as_user = _as_unprivileged(Path(directory))
        run(
            as_user,
            postgresql_program("initdb"),
            "-D",
            data,
            "-U",
            "drs",
            "-A",
            "md5",  # SCRAM takes longer than most queries of tests, which connect often
            f"--pwfile={secret}",
            "-E",
            "UTF8",
            "--no-locale",
            "--no-sync",
        )
        options = {"max_connections": "200", "shared_buffers": "256MB", "max_wal_size": "4GB", **settings}
        (data / "postgresql.auto.conf").write_text("".join(f"{k} = '{v}'\n" for k, v in options.items()))
        run(
            as_user,
            postgresql_program("pg_ctl"),
            "-D",
            data,
            "-w",
            "-l",
            Path(directory) / "log",
            "-o",
            f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=",
            "start",
        )
        try:
            yield f"postgres://drs:{password}@127.0.0.1:{port}/"
        finally:
            run(as_user, postgresql_program("pg_ctl"), "-D", data, "-m", "immediate", "stop")


@contextmanager
def redis() -> Iterator[str]:
    """Yield the URL of the server's first database."""
    program = shutil.which("redis-server")
    if program is None:
        raise SystemExit("redis-server is missing: run `make services`.")
    port = free_port()
    arguments = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    server = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
    try:
        wait_for_port(port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait()


def wait_for_port(port: int, seconds: float = 180) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise TimeoutError(f"nothing listens on port {port}")


def run(prefix: list[str], *command: object) -> None:
    done = subprocess.run([*prefix, *map(str, command)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed:\n{done.stdout}{done.stderr}")


def _as_unprivileged(directory: Path) -> list[str]:
    """Return the command prefix that runs PostgreSQL as its package's user: it refuses to run as root."""
    if os.geteuid() != 0:
        return []
    shutil.chown(directory, "postgres")
    for path in directory.iterdir():
        shutil.chown(path, "postgres")
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
