"""Connectors: claims of 10,000 due connectors by several workers at once, and a poll compared with bulk ingest of the
same records."""

import multiprocessing
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils import timezone

from accounts import callers
from accounts.models import Organization
from bench.report import Figure, middle, ratio
from bench.rounds import interleaved, sized
from bench.subject import PLACEHOLDER, record
from connectors.models import Connector, PollRun
from connectors.services import claims, polling
from connectors.services.connectors import create_connector
from decisions.services import ingest_lines

CONNECTORS, WORKERS = sized(10_000), 4
ORGANIZATIONS = sized(1000)
MIN_CLAIMS, MIN_CLAIMS_OF_MANY = 2000, 50
"""Claims a second. With many organizations, each claim commits a single connector, as does each step of its poll."""
RECORDS = sized(5000)
MIN_SHARE = 0.8
"""Share of the throughput of bulk ingest that a poll has to reach."""


def measure() -> Iterator[Figure]:
    organization = Organization.objects.get()
    of_one = f"claims, {WORKERS} workers, {CONNECTORS:,} connectors"
    yield Figure(of_one, _claims([organization]), "/s", at_least=MIN_CLAIMS)
    many = [Organization(name=f"Bench {number}", slug=f"bench-{number}") for number in range(ORGANIZATIONS)]
    of_many = f"claims, {WORKERS} workers, {CONNECTORS:,} connectors of {ORGANIZATIONS:,} organizations"
    yield Figure(of_many, _claims(Organization.objects.bulk_create(many)), "/s", at_least=MIN_CLAIMS_OF_MANY)
    with tempfile.TemporaryDirectory(prefix="drs-bench-") as directory:
        settings.CONNECTOR_DIRECTORIES = [directory]
        contenders = {"polled": partial(_poll, organization, Path(directory)), "bulk": partial(_bulk, organization)}
        rates = interleaved("Polls", contenders)
    yield middle("records, polled", rates["polled"], "/s")
    yield middle("records, bulk ingest", rates["bulk"], "/s", reference=True)
    yield ratio("polled, share of bulk", rates["polled"], rates["bulk"], at_least=MIN_SHARE)


def _claims(organizations: list[Organization]) -> float:
    """Return claims a second, after checking that each connector was claimed by one worker."""
    Connector.objects.bulk_create(
        Connector(
            organization=organizations[n % len(organizations)],
            kind="directory",
            name=f"c{n}",
            next_poll_at=timezone.now(),
            created_by="bench",
        )
        for n in range(CONNECTORS)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE connectors_connector")
    connection.close()  # each fork opens its own connection
    forks = multiprocessing.get_context("fork")
    ready, results = forks.Barrier(WORKERS + 1), forks.Queue()
    workers = [forks.Process(target=_claim_all, args=(ready, results)) for _ in range(WORKERS)]
    for worker in workers:
        worker.start()
    ready.wait()
    started = time.perf_counter()
    claimed = Counter(pk for _ in workers for pk in results.get())
    seconds = time.perf_counter() - started
    for worker in workers:
        worker.join()
    if len(claimed) != CONNECTORS or set(claimed.values()) != {1}:
        raise SystemExit(f"{len(claimed)} connectors were claimed, {claimed.most_common(1)} most often.")
    Connector.objects.unscoped("nothing else has connectors here").delete()
    return CONNECTORS / seconds


def _claim_all(ready: Any, results: Any) -> None:
    connection.ensure_connection()
    ready.wait()
    claimed: list[int] = []
    while page := claims.claim():
        claimed += [connector.pk for connector in page]
    results.put(claimed)


def _poll(organization: Organization, directory: Path, number: int) -> float:
    """Return the records a second of a poll."""
    name = f"round-{number}"
    folder = directory / name
    folder.mkdir()
    (folder / "records.ndjson").write_bytes(b"\n".join(_records(f"polled-{name}")))
    os.utime(folder / "records.ndjson", (0, 0))  # a fresh file might be half written, so the poll would skip it
    create_connector(
        caller=callers.command_line(organization.pk),
        kind="directory",
        name=name,
        config={"path": str(folder)},
        schedule_seconds=86_400,
    )
    (connector,) = claims.claim()
    rate = _rate(lambda: polling.poll(connector, polling.MAX_POLL_SECONDS))
    run = PollRun.objects.for_organization(organization).get(connector=connector)
    if (run.outcome, run.new) != ("finished", RECORDS):
        raise SystemExit(f"{run.new} records were polled, and the poll ended as {run.outcome}: {run.detail}")
    return rate


def _bulk(organization: Organization, number: int) -> float:
    """Return the records a second of bulk ingest."""
    lines, shell = _records(f"bulk-{number}"), callers.command_line(organization.pk)
    return _rate(lambda: list(ingest_lines(caller=shell, lines=lines, source="bench")))


def _records(name: str) -> list[bytes]:
    one = record()
    return [one.replace(PLACEHOLDER.encode(), f"{name}-{n}".encode()) for n in range(RECORDS)]


def _rate(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return RECORDS / (time.perf_counter() - started)
