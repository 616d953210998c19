"""Benchmarks: `make bench` measures every part, `make bench PART=ingest` one. Each part has a process and a database.

A run prints the figures with their goals and with the last results from `bench/results/`, which it replaces.
DRS_BENCH_SMOKE=1 runs everything as briefly as possible and stores no results.
"""

import inspect
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import django
import psycopg

from bench import report
from tests.throwaway import DURABLE, postgresql

PARTS = (
    "ingest", "sqlite", "filesystem", "bulk", "growth", "growth_5m", "drafting", "connectors", "clouds", "back_office",
    "back_office_sqlite", "back_office_sqlite_1m", "retention", "footprint",
)  # fmt: skip
_ON_SQLITE = {"sqlite", "back_office_sqlite", "back_office_sqlite_1m"}


def main(*parts: str) -> None:
    unknown = set(parts) - set(PARTS)
    if unknown:
        raise SystemExit(f"There is no part {', '.join(sorted(unknown))}. The parts: {', '.join(PARTS)}.")
    if len(parts) == 1:
        measure(*parts)
        return
    failed = [part for part in parts or PARTS if subprocess.run([sys.executable, "-m", "bench", part]).returncode]
    if failed:
        raise SystemExit(f"Not measured: {', '.join(failed)}.")


def measure(part: str) -> None:
    """Run a part: a module with a function `measure`, which takes its arguments by name and yields figures."""
    with tempfile.TemporaryDirectory(prefix="drs-bench-") as directory, _database(part, directory) as database:
        os.environ |= {"DATABASE_URL": database, "DATA_DIR": directory, "DJANGO_SETTINGS_MODULE": "config.settings"}
        django.setup()
        from bench.rounds import SMOKE  # these modules import models, which need Django set up
        from bench.subject import Subject

        subject = Subject.create(Path(directory))
        given: dict[str, Any] = {"subject": subject, "directory": Path(directory), "database": database}
        work = import_module(f"bench.{part}").measure
        wanted = {name: given[name] for name in inspect.signature(work).parameters}
        report.run(part, lambda: work(**wanted), keep=not SMOKE)


@contextmanager
def _database(part: str, directory: str) -> Iterator[str]:
    """Yield the URL of an empty database."""
    if part in _ON_SQLITE:
        yield f"sqlite:///{directory}/db.sqlite3"
        return
    with postgresql(DURABLE) as base:
        with psycopg.connect(base + "postgres", autocommit=True) as connection:
            connection.execute("CREATE DATABASE drs")
        yield base + "drs"


if __name__ == "__main__":
    main(*sys.argv[1:])
