"""Disposal of 20,000 records, compared with their bulk ingest; memory after a tenth of them and at the end."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

from django.utils import timezone

from accounts import callers
from accounts.models import Organization
from bench.report import Figure
from bench.rounds import sized
from bench.subject import PLACEHOLDER, record
from config.progress import progress
from custody.models import Disposal
from decisions.services import ingest_lines
from retention import services
from retention.models import Policy, Run

RECORDS = sized(20_000)
MIN_RATE = 167
"""Disposals a second: 100,000 records in ten minutes."""
MAX_GROWTH = 1.25


def measure() -> Iterator[Figure]:
    """Ingest the records, and dispose of all of them."""
    organization = Organization.objects.get()
    shell = callers.command_line(organization.pk)
    started = time.perf_counter()
    with progress("Taking in", RECORDS) as advance:
        for _ in ingest_lines(caller=shell, lines=_lines(), source="bench"):
            advance(1)
    ingest_seconds = time.perf_counter() - started
    now = timezone.now()
    Policy.objects.create(
        organization=organization, number=1, days=1, shortens=False, begins_at=now, created_at=now, created_by="bench"
    )
    memory = []
    began = time.perf_counter()
    with progress("Disposing", RECORDS) as advance:
        for step in services.dispose_of_due(caller=shell, kind=Run.Kind.COMMAND):
            memory.append(_resident_bytes())
            advance(step.considered)
    seconds = time.perf_counter() - began
    finished = Disposal.objects.for_organization(organization).filter(finished_at__isnull=False).count()
    if finished != RECORDS:
        raise SystemExit(f"{finished} of {RECORDS} records were disposed of")
    early, late = memory[len(memory) // 10], memory[-1]
    yield Figure("records disposed of", RECORDS / seconds, "/s", at_least=MIN_RATE)
    yield Figure("records ingest_seconds in in bulk", RECORDS / ingest_seconds, "/s", reference=True)
    yield Figure("disposals, share of bulk ingest", ingest_seconds / seconds)
    yield Figure("memory after a tenth", early / 2**20, "MiB")
    yield Figure("memory at the end, beside a tenth", late / early, at_most=MAX_GROWTH)


def _lines() -> Iterator[bytes]:
    body = record().replace(b"2026-11-01", b"2020-11-01")
    return (body.replace(PLACEHOLDER.encode(), f"old-{n}".encode()) for n in range(RECORDS))


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
