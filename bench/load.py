"""The load: wrk for single records, threads with whole batches for bulk."""

import http.client
import re
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from bench.subject import PLACEHOLDER, Subject

SCRIPT = Path(__file__).with_name("ingest.lua")
BATCH = 1000


@dataclass
class Load:
    """The result of a run: `stored` records were answered as created, and `failed` counts all other answers."""

    stored: int
    failed: int
    seconds: float
    p99_milliseconds: float = 0.0

    @property
    def rate(self) -> float:
        return self.stored / self.seconds


def singles(port: int, subject: Subject, *, run: str, clients: int, seconds: int) -> Load:
    """POST /v1/ingest/srf from `clients` keep-alive connections, each record with a new id."""
    command = ["wrk", "-t", min(clients, 2), "-c", clients, "-d", f"{seconds}s", "-s", SCRIPT]
    command += [f"http://127.0.0.1:{port}/v1/ingest/srf", "--", subject.token, run, subject.file]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=True)
    match = re.search(r"RESULT (\d+) (\d+) (\d+) (\d+) ([\d.]+)", done.stdout)
    assert match, done.stdout + done.stderr
    requests, microseconds, bad, errors, p99 = (float(part) for part in match.groups())
    return Load(int(requests - bad), int(bad + errors), microseconds / 1e6, p99 / 1000)


def batches(port: int, subject: Subject, *, run: str, clients: int, uploads: int) -> Load:
    """POST /v1/ingest/srf/batch: each client sends `uploads` uploads of 1,000 records."""
    bodies = [[_batch(subject.record, f"{run}-{client}-{n}") for n in range(uploads)] for client in range(clients)]
    outcomes: list[tuple[int, int]] = []
    threads = [threading.Thread(target=_upload, args=(port, subject.token, sent, outcomes)) for sent in bodies]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - started
    return Load(sum(good for good, _ in outcomes), sum(bad for _, bad in outcomes), seconds)


def _batch(record: bytes, run: str) -> bytes:
    return b"\n".join(record.replace(PLACEHOLDER.encode(), f"{run}-{n}".encode()) for n in range(BATCH))


def _upload(port: int, token: str, bodies: list[bytes], outcomes: list[tuple[int, int]]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/x-ndjson"}
    for body in bodies:
        connection.request("POST", "/v1/ingest/srf/batch", body, headers)
        lines = connection.getresponse().read().splitlines()
        good = sum(b'"status":"created"' in line for line in lines)
        outcomes.append((good, BATCH - good))
