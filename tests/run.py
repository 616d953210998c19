"""The whole suite, on SQLite and on PostgreSQL: `python -m tests.run [pytest arguments]`."""

import os
import subprocess
import sys

from tests.throwaway import FAST, postgresql, redis


def suite(name: str, **environment: str) -> int:
    print(f"\n── the suite on {name} ──", flush=True)
    # A worker more than cores, for many tests wait for processes, browsers and mail. A file stays with one worker,
    # which starts its services once, and files keep their order, the longest first.
    workers = str((os.cpu_count() or 1) + 1)
    spread = ["-n", workers, "--dist", "loadfile", "--no-loadscope-reorder"]
    command = [sys.executable, "-m", "pytest", *spread, *sys.argv[1:]]
    return subprocess.run(command, env=os.environ | environment, stdin=subprocess.DEVNULL).returncode


def main() -> int:
    with postgresql(FAST) as server, redis() as queue:
        failed = suite("SQLite", TEST_REDIS_URL=queue)
        return suite("PostgreSQL", TEST_REDIS_URL=queue, DATABASE_URL=server + "drs") or failed


if __name__ == "__main__":
    sys.exit(main())
