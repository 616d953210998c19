"""The footprint: the memory of each process, at rest and after a load, and the bytes of a record."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import mean

from django.db import connection

from bench import load
from bench.report import Figure
from bench.rounds import SECONDS
from bench.subject import Subject
from custody.models import Entry, SealedObject
from decisions.models import Decision
from tests.throwaway import free_port, wait_for_port

_NAMES = {
    "config.web": "web",
    "--hostname worker@": "worker",
    "--hostname custody@": "custody",
    "--hostname letters@": "letters",
    "--hostname storage@": "storage",
    "--hostname poller@": "poller",
    " beat": "clock",
}
"""The parts of `manage.py serve`, by a text in their command lines."""
_SIZE = "SELECT pg_total_relation_size(%s), pg_indexes_size(%s)"
_STARTED_SECONDS = 10
"""Time for Celery's processes to load everything."""


def measure(subject: Subject, directory: Path) -> Iterator[Figure]:
    with _service() as (pid, port):
        load.singles(port, subject, run="first", clients=16, seconds=1)  # so that each web process has answered
        time.sleep(_STARTED_SECONDS)
        resting = _memory(pid)
        for number in range(3):
            load.singles(port, subject, run=f"single-{number}", clients=32, seconds=SECONDS)
            load.batches(port, subject, run=f"bulk-{number}", clients=4, uploads=1)
        loaded = _memory(pid)
        yield from _bytes_a_record()
        files = subject.with_storage("filesystem", root=str(directory / "vault"))
        sent = load.batches(port, files, run="files", clients=1, uploads=1)
        vault = [file.stat() for file in (directory / "vault").rglob("*") if file.is_file()]
        yield Figure("a record in the filesystem vault, its file", sum(f.st_size for f in vault) / sent.stored, "B")
        yield Figure(
            "a record in the filesystem vault, on disk", sum(f.st_blocks for f in vault) * 512 / sent.stored, "B"
        )
    for name, size in resting.items():
        yield Figure(f"memory at rest: {name}", size, "MiB")
    for name, size in loaded.items():
        yield Figure(f"memory loaded: {name}", size, "MiB")


@contextmanager
def _service() -> Iterator[tuple[int, int]]:
    """Run `manage.py serve`, and yield its process id and its port."""
    port = free_port()
    command = [sys.executable, "manage.py", "serve", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_for_port(port)
        yield process.pid, port
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def _memory(service: int) -> dict[str, float]:
    """Return the MiB of each process, with shared memory divided among its users; for the web's workers, the mean."""
    parents = _parents()
    memory = {"supervisor": _mebibytes(service)}
    for part in (pid for pid, parent in parents.items() if parent == service):
        name = next(name for words, name in _NAMES.items() if words in _command(part))
        below = [pid for pid, parent in parents.items() if parent == part and "resource_tracker" not in _command(pid)]
        workers = [_mebibytes(pid) for pid in below]
        memory[name] = _mebibytes(part)
        if workers:
            memory[f"{name}, each of {len(workers)} below"] = mean(workers)
    return memory


def _parents() -> dict[int, int]:
    """Return the parent of every process."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # the process has ended
            continue
    return parents


def _command(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()


def _mebibytes(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def _bytes_a_record() -> Iterator[Figure]:
    rows = Entry.objects.count()
    for model in (Entry, SealedObject, Decision):
        with connection.cursor() as cursor:
            cursor.execute(_SIZE, [model._meta.db_table] * 2)
            whole, indexes = cursor.fetchone()
        yield Figure(f"a record in PostgreSQL, {model._meta.db_table}", float(whole) / rows, "B")
        yield Figure(f"a record in PostgreSQL, {model._meta.db_table}, its indexes", float(indexes) / rows, "B")
