"""Partitioned hot tables compared with whole tables: the queries of ingest and of the API's reads, in otherwise equal
databases."""

import time
import uuid
from collections.abc import Callable, Iterator
from copy import copy
from functools import partial
from typing import NamedTuple

from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from accounts import callers
from bench.report import Figure, middle, ratio
from bench.rounds import interleaved, sized
from bench.server import database_cpu_seconds
from bench.subject import PLACEHOLDER, Subject
from config.progress import progress
from custody.models import object_key
from custody.rows.bulk_insert import NewRecord, insert
from decisions import selectors
from decisions.models import Decision
from decisions.schemas import DecisionQuery
from decisions.services import ingest_lines
from decisions.services.records import CHUNK

PARTS = (1, 4, 16)
"""Numbers of partitions; one means a whole table."""
ROWS, OPERATIONS, PAGE = 50_000, 800, 50
REAL = "real-1"
"""The decision id of the only record whose record id is derived from it."""

_TICK = 0.01
"""The resolution of CPU seconds."""


class Cost(NamedTuple):
    """The cost of an operation: sequential operations a second, and PostgreSQL's CPU time for each."""

    rate: float
    microseconds: float


def measure(subject: Subject, database: str) -> Iterator[Figure]:
    for parts in PARTS:
        _make(parts, subject, database)
    operations: dict[str, tuple[Callable[[Subject], Callable[[], object]], int]] = {
        "insert one": (partial(_insert, 1), OPERATIONS),
        f"insert {CHUNK}": (partial(_insert, CHUNK), OPERATIONS // 20),
        f"list of {PAGE}": (_list, OPERATIONS // 10),
        "one by its decision id": (_by_decision_id, OPERATIONS),
        "one by its record id": (_by_record_id, OPERATIONS),
    }
    for name, (prepare, times) in operations.items():
        contenders = {parts: partial(_cost, parts, subject, prepare, sized(times)) for parts in PARTS}
        yield from _figures(name, interleaved(name.capitalize(), contenders))


def _figures(name: str, costs: dict[int, list[Cost]]) -> Iterator[Figure]:
    for parts, results in costs.items():
        where = "whole" if parts == 1 else f"{parts} partitions"
        rates, cpu = zip(*results, strict=True)
        yield middle(f"{name}, {where}", rates, "/s")
        yield middle(f"{name}, {where}: CPU, PostgreSQL", cpu, "µs")
        if parts > 1:
            whole_rates, whole_cpu = zip(*costs[1], strict=True)
            yield ratio(f"{name}, {where}: beside whole", rates, whole_rates)
            yield ratio(f"{name}, {where}: CPU beside whole", cpu, whole_cpu, unit="times")


def _make(parts: int, subject: Subject, template: str) -> None:
    """Copy the database, partition its tables, and fill them with records."""
    connection.close()
    connection.settings_dict["NAME"] = "postgres"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE drs_{parts} TEMPLATE {template.rpartition('/')[2]}")
    _use(parts)
    if parts > 1:
        call_command("partition_tables", parts, verbosity=0)
    rows = sized(ROWS)
    with progress(f"{parts} partitions", rows) as advance:
        for _ in range(0, rows, CHUNK):
            insert(_records(subject, CHUNK))
            advance(CHUNK)
    line = subject.record.replace(PLACEHOLDER.encode(), REAL.encode())
    list(ingest_lines(caller=callers.command_line(subject.rows.entry.organization_id), lines=[line], source="bench"))
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def _use(parts: int) -> None:
    connection.close()
    connection.settings_dict["NAME"] = f"drs_{parts}"


def _cost(parts: int, subject: Subject, prepare: Callable[[Subject], Callable[[], object]], times: int, _: int) -> Cost:
    _use(parts)
    run = prepare(subject)
    for _ in range(6):  # after five runs PostgreSQL may choose a generic plan
        run()
    operations = [prepare(subject) for _ in range(times)]
    cpu, started = database_cpu_seconds(), time.perf_counter()
    for operation in operations:
        operation()
    seconds, cpu = time.perf_counter() - started, database_cpu_seconds() - cpu
    return Cost(times / seconds, max(cpu, _TICK) / times * 1e6)


def _insert(count: int, subject: Subject) -> Callable[[], object]:
    return partial(insert, _records(subject, count))


def _list(subject: Subject) -> Callable[[], object]:
    rows = selectors.decisions(subject.rows.entry.organization_id, DecisionQuery())
    return lambda: list(rows.order_by("-received_at", "-pk")[:PAGE])


def _by_decision_id(subject: Subject) -> Callable[[], object]:
    return partial(selectors.decision, subject.rows.entry.organization_id, REAL)


def _by_record_id(subject: Subject) -> Callable[[], object]:
    rows = Decision.objects.for_organization(subject.rows.entry.organization_id)
    newest = rows.order_by("-received_at", "-pk")[0]
    return partial(rows.select_related("record").get, pk=newest.pk)


def _records(subject: Subject, count: int) -> list[NewRecord]:
    """Return copies of the subject's rows for new records."""
    return [_record(subject.rows) for _ in range(count)]


def _record(like: NewRecord) -> NewRecord:
    entry, sealed, decision = map(copy, like)
    entry.record_id = decision.record_id = uuid.uuid4()
    entry.received_at = decision.received_at = timezone.now()
    sealed.key = object_key(entry.organization_id, entry.record_id)
    decision.decision_id = str(entry.record_id)
    return NewRecord(entry, sealed, decision)
