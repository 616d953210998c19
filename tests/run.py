"""The whole suite: all tests on PostgreSQL, and tests that may differ on SQLite: `python -m tests.run [arguments]`.

The arguments are those of pytest.
"""

import os
import platform
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from tests import databases
from tests.throwaway import FAST, postgresql, postgresql_program, redis

_MEMORY = Path("/dev/shm")
_ROOM = 6 * 2**30
_CORES = os.cpu_count() or 1
_YIELDING = ["nice", "-n", "5"]
"""Parts that run beside the whole suite have a lower priority, so that they use the time of waiting tests."""


def suite(name: str, workers: int, *arguments: str, output: IO[str] | None = None, **environment: str) -> int:
    """Run a part of the suite, and return its exit code.

    Args:
        output: the file for a part that runs beside the whole suite with a lower priority; by default the terminal.
    """
    print(f"\n── the suite on {name} ──", file=output, flush=True)
    spread = ["-n", str(workers), "--dist", "loadfile", "--no-loadscope-reorder"] if workers > 1 else []
    pace = _YIELDING if output else []
    command = [*pace, sys.executable, "-m", "pytest", *spread, *arguments, *sys.argv[1:]]
    return subprocess.run(command, env=os.environ | environment, stdin=subprocess.DEVNULL, stdout=output).returncode


def use_memory_for_files(directory: Path) -> None:
    """Put temporary files into memory if there is room: tests sync often, and their files need not last."""
    if not directory.is_dir() or not os.access(directory, os.W_OK):
        return
    stats = os.statvfs(directory)
    if stats.f_bavail * stats.f_frsize >= _ROOM and not stats.f_flag & os.ST_NOEXEC:
        tempfile.tempdir = str(directory)


def versions() -> list[str]:
    """Return what runs the suite, each with its version: docs/operations.md names the versions that were tried."""
    servers = [
        subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
        for program in (postgresql_program("postgres"), "redis-server")
    ]
    return [f"Python {platform.python_version()}", f"SQLite {sqlite3.sqlite_version}", *servers]


def main() -> int:
    # Otherwise every process compiles the tests and the service.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    use_memory_for_files(_MEMORY)
    print("\n".join(versions()), flush=True)
    with ExitStack() as stack:
        tempfile.tempdir = os.environ["TMPDIR"] = stack.enter_context(tempfile.TemporaryDirectory(prefix="drs-tests-"))
        os.chmod(tempfile.tempdir, 0o711)  # PostgreSQL runs below it as another user
        server, queue = stack.enter_context(postgresql(FAST)), stack.enter_context(redis())
        stack.callback(databases.share())
        others = stack.enter_context(tempfile.TemporaryFile("w+"))
        pool = stack.enter_context(ThreadPoolExecutor())
        name, workers = "SQLite: what may differ there", max(_CORES // 2, 1)
        repeated = pool.submit(suite, name, workers, "--only", "what-differs", output=others, TEST_REDIS_URL=queue)
        # One worker more than cores, because many tests wait for processes, browsers and mail.
        failed = suite("PostgreSQL: everything", _CORES + 1, TEST_REDIS_URL=queue, DATABASE_URL=server + "drs")
        failed = repeated.result() or failed
        others.seek(0)
        print(others.read())
        return failed


if __name__ == "__main__":
    sys.exit(main())
