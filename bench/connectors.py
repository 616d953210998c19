"""Connectors: how fast 10,000 that are due are claimed, by several workers at once; and a poll, beside bulk ingest of
the same records."""

import multiprocessing
import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils import timezone
from rich.table import Table

from accounts import callers
from accounts.models import Organization
from bench.subject import PLACEHOLDER, record
from connectors.models import Connector, PollRun
from connectors.services import polling
from connectors.services.connectors import create_connector
from decisions.services import ingest_lines

CONNECTORS, WORKERS = 10_000, 4
LEAST_CLAIMS = 2000
"""A second."""
RECORDS, ROUNDS = 5000, 3
LEAST_SHARE = 0.8
"""Of a poll's throughput in that of bulk ingest."""


def measure() -> Table:
    organization = Organization.objects.get()
    table = Table("what", "a second", "of at least")
    table.add_row(
        f"claims, {WORKERS} workers, {CONNECTORS:,} connectors", f"{_claims(organization):,.0f}", f"{LEAST_CLAIMS:,}"
    )
    with tempfile.TemporaryDirectory(prefix="drs-bench-") as directory:
        settings.CONNECTOR_DIRECTORIES = [directory]
        polls, bulks = zip(*(_pair(organization, Path(directory), f"round-{n}") for n in range(ROUNDS)), strict=True)
    share = statistics.median(poll / bulk for poll, bulk in zip(polls, bulks, strict=True))
    table.add_row("records, bulk ingest", f"{statistics.median(bulks):,.0f}", "")
    table.add_row("records, polled", f"{statistics.median(polls):,.0f}", "")
    table.add_row("share of a poll in bulk ingest", f"{share:.2f}", f"{LEAST_SHARE}")
    return table


def _claims(organization: Organization) -> float:
    """Claims a second. Each worker notes what it got, and nobody may have got the same."""
    Connector.objects.bulk_create(
        Connector(
            organization=organization, kind="directory", name=f"c{n}", next_poll_at=timezone.now(), created_by="bench"
        )
        for n in range(CONNECTORS)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE connectors_connector")
    connection.close()  # what is forked has one of its own
    forks = multiprocessing.get_context("fork")
    ready, found = forks.Barrier(WORKERS + 1), forks.Queue()
    workers = [forks.Process(target=_claim_all, args=(ready, found)) for _ in range(WORKERS)]
    for worker in workers:
        worker.start()
    ready.wait()
    started = time.perf_counter()
    claimed = Counter(pk for _ in workers for pk in found.get())
    seconds = time.perf_counter() - started
    for worker in workers:
        worker.join()
    if len(claimed) != CONNECTORS or set(claimed.values()) != {1}:
        raise SystemExit(f"{len(claimed)} connectors were claimed, {claimed.most_common(1)} most often.")
    Connector.objects.for_organization(organization).delete()
    return CONNECTORS / seconds


def _claim_all(ready: Any, found: Any) -> None:
    connection.ensure_connection()
    ready.wait()
    claimed: list[int] = []
    while page := polling._claim():
        claimed += [connector.pk for connector in page]
    found.put(claimed)


def _pair(organization: Organization, directory: Path, name: str) -> tuple[float, float]:
    """Records a second of a poll, and of bulk ingest right after it."""
    shell = callers.command_line(organization.pk)
    folder = directory / name
    folder.mkdir()
    (folder / "records.ndjson").write_bytes(b"\n".join(_records(f"polled-{name}")))
    os.utime(folder / "records.ndjson", (0, 0))  # else it may be in the middle of being written
    create_connector(caller=shell, kind="directory", name=name, config={"path": str(folder)}, schedule_seconds=86_400)
    (connector,) = polling._claim()
    poll = _rate(lambda: polling.poll(connector, polling.MOST_SECONDS))
    run = PollRun.objects.for_organization(organization).get(connector=connector)
    if (run.outcome, run.new) != ("finished", RECORDS):
        raise SystemExit(f"{run.new} records were polled, and the poll ended as {run.outcome}: {run.detail}")
    lines = _records(f"bulk-{name}")
    return poll, _rate(lambda: list(ingest_lines(caller=shell, lines=lines, source="bench")))


def _records(name: str) -> list[bytes]:
    one = record()
    return [one.replace(PLACEHOLDER.encode(), f"{name}-{n}".encode()) for n in range(RECORDS)]


def _rate(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return RECORDS / (time.perf_counter() - started)
