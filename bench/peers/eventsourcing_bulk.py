"""Records a second into PyPI's `eventsourcing` on PostgreSQL, in batches, from several processes: `records seconds`.

Each record is an aggregate with its creation event. Nothing is sealed or signed.

Usage: python -m bench.peers.eventsourcing_bulk URL RECORD SECONDS BATCH PROCESSES
"""

import json
import multiprocessing
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate

application: Application


class Decision(Aggregate):
    def __init__(self, content: dict) -> None:
        self.content = content


def open_application(url: str, create_table: str) -> None:
    global application
    parts = urlsplit(url)
    application = Application(
        env={
            "PERSISTENCE_MODULE": "eventsourcing.postgres",
            "POSTGRES_DBNAME": parts.path[1:],
            "POSTGRES_HOST": str(parts.hostname),
            "POSTGRES_PORT": str(parts.port),
            "POSTGRES_USER": str(parts.username),
            "POSTGRES_PASSWORD": str(parts.password),
            "CREATE_TABLE": create_table,
        }
    )


def write(file: str, seconds: float, batch: int) -> int:
    body, done, started = Path(file).read_bytes(), 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        application.save(*(Decision(json.loads(body)) for _ in range(batch)))
        done += batch
    return done


def main(url: str, file: str, seconds: str, batch: str, processes: str) -> None:
    open_application(url, "yes")
    application.close()
    with multiprocessing.get_context("spawn").Pool(int(processes), open_application, (url, "no")) as pool:
        work = [(file, float(seconds), int(batch))] * int(processes)
        pool.starmap(write, [(file, 0.1, 1)] * int(processes), chunksize=1)  # waits until all have started
        started = time.perf_counter()
        done = sum(pool.starmap(write, work, chunksize=1))
        print(done, time.perf_counter() - started)


if __name__ == "__main__":
    main(*sys.argv[1:])
