"""Disposing of 100,000 records, beside taking them in with `manage.py ingest`'s own service; memory at the first and
at the last tenth.

DRS_BENCH_RECORDS sets another number.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

from django.utils import timezone
from rich.table import Table

from accounts import callers
from accounts.models import Organization
from bench.subject import PLACEHOLDER, record
from config.progress import progress
from custody import services as custody
from custody.models import Disposal
from decisions.services import ingest_lines
from retention import services
from retention.models import Policy, Run

RECORDS = int(os.environ.get("DRS_BENCH_RECORDS", "100000"))
LIMIT_SECONDS = 600


def measure() -> Table:
    """Take the records, dispose of all of them, and return the table."""
    organization = Organization.objects.get()
    shell = callers.command_line(organization.pk)
    taken = time.perf_counter()
    with progress("Taking in", RECORDS) as advance:
        for _ in ingest_lines(caller=shell, lines=_lines(), source="bench"):
            advance(1)
    taken = time.perf_counter() - taken
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
    tenth = RECORDS // custody.BATCH // 10
    table = Table("what", "measured", "limit")
    table.add_row("records disposed of", f"{RECORDS:,} in {seconds:.0f} s", f"{LIMIT_SECONDS} s for 100,000")
    table.add_row("a second", f"{RECORDS / seconds:,.0f}", f"{RECORDS / taken:,.0f} taken in in bulk")
    table.add_row("share", f"{taken / seconds:.2f}", "")
    table.add_row("memory after a tenth", f"{memory[tenth] / 2**20:.0f} MiB", "")
    table.add_row("memory at the end", f"{memory[-1] / 2**20:.0f} MiB", "as after a tenth")
    return table


def _lines() -> Iterator[bytes]:
    body = record().replace(b"2026-11-01", b"2020-11-01")
    return (body.replace(PLACEHOLDER.encode(), f"old-{n}".encode()) for n in range(RECORDS))


def _resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
