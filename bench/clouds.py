"""Ingest into a bucket, beside ingest of the same records into the database and beside the puts that the bucket's
emulator takes from as many clients. All of it runs on one computer, the emulator too: it takes CPU time from ingest."""

import os
import statistics
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

from django.conf import settings
from rich.table import Table

from accounts import audit, callers, services
from accounts.models import Organization
from accounts.roles import Role
from bench import load, puts
from bench.server import WebServer, database_cpu_seconds
from bench.subject import Subject
from custody import storage_targets, vaults
from custody.models import Entry, Installation
from custody.vaults.cloud import CloudVault
from tests.support.aws_server import REGION, ROOT, AwsServer, aws_server

CLIENTS, SECONDS, ROUNDS = 32, 5, 3
BULK_CLIENTS, BULK_UPLOADS = 2, 1
PARALLEL_PUTS = 16
"""Of these uploads together."""
LEAST_SHARE = 0.5
"""Of the bucket's throughput in the database's."""


class Round(NamedTuple):
    """Records a second into either, the puts a second of the emulator alone, and the CPU time that a record for the
    bucket takes in the web server and in the database."""

    bucket: float
    database: float
    emulator: float
    cpu_microseconds: float
    database_microseconds: float


def measure(subject: Subject, directory: Path) -> Table:
    table = Table(
        "what",
        "bucket, records/s",
        "database",
        f"share, of {LEAST_SHARE}",
        "emulator",
        "share",
        "web CPU",
        "database CPU",
    )
    with aws_server() as emulator:
        of_bucket = _subject_of(subject, emulator)
        with WebServer() as server:
            put = partial(puts.run, emulator, "records", bytes(subject.rows.sealed.body), directory, seconds=SECONDS)
            post = partial(load.singles, server.port, clients=CLIENTS, seconds=SECONDS)
            upload = partial(load.batches, server.port, clients=BULK_CLIENTS, uploads=BULK_UPLOADS)
            for each in (subject, of_bucket):
                load.singles(server.port, each, run="warm-clouds", clients=8, seconds=2)
            for what, send, clients in (
                (f"single records, {CLIENTS} clients", post, CLIENTS),
                (f"bulk, {BULK_CLIENTS} clients", upload, PARALLEL_PUTS),
            ):
                into = [partial(_measured, server, send, each) for each in (of_bucket, subject)]
                limit = partial(put, clients=clients)
                rounds = [_round(into, limit, f"clouds-{clients}-{n}") for n in range(ROUNDS)]
                table.add_row(what, *_medians(rounds))
    if Entry.objects.unscoped("of all").exclude(state=Entry.State.STORED).exists():
        raise SystemExit("Some records did not get to the bucket.")
    return table


def _subject_of(subject: Subject, emulator: AwsServer) -> Subject:
    """The same records, sent by an organization whose storage is the emulator's bucket."""
    settings.ALLOWED_PRIVATE_HOSTS = ["localhost"]
    os.environ |= {"ALLOWED_PRIVATE_HOSTS": "localhost", "DRS_SECRET_BENCH": ROOT}
    emulator.client("s3").create_bucket(Bucket="records")
    organization: Organization = services.create_organization(
        name="Clouds", owner_email="c@bench.example", actor=audit.SYSTEM
    )
    _, token = services.create_api_key(caller=callers.system(organization.id), name="bench", role=Role.EDITOR)
    config = {"bucket": "records", "region": REGION, "secret_ref": "env:DRS_SECRET_BENCH"}
    config |= {"endpoint": f"http://localhost:{emulator.port}"}
    target = storage_targets.use_own(organization.id, "aws", config)
    installation, _ = Installation.objects.get_or_create(only=True)
    cast(CloudVault, vaults.of(target.pk)).mark(installation.uid)
    return replace(subject, token=token)


def _round(into: list[Callable[..., Any]], limit: Callable[..., float], run: str) -> Round:
    (bucket, *cpu), (database, *_) = (each(run) for each in into)
    return Round(bucket, database, limit(run=run), *cpu)


def _measured(
    server: WebServer, send: Callable[..., load.Load], subject: Subject, run: str
) -> tuple[float, float, float]:
    """Records a second, and microseconds of CPU for each in the web server and in the database."""
    before = server.cpu_seconds(), database_cpu_seconds()
    done = send(subject, run=run)
    if done.failed:
        raise SystemExit(f"{done.failed} records were refused")
    web, database = server.cpu_seconds() - before[0], database_cpu_seconds() - before[1]
    return done.rate, web / done.stored * 1e6, database / done.stored * 1e6


def _medians(rounds: list[Round]) -> list[str]:
    middle = statistics.median
    return [
        f"{middle(r.bucket for r in rounds):,.0f}",
        f"{middle(r.database for r in rounds):,.0f}",
        f"{middle(r.bucket / r.database for r in rounds):.2f}",
        f"{middle(r.emulator for r in rounds):,.0f} puts/s",
        f"{middle(r.bucket / r.emulator for r in rounds):.2f}",
        f"{middle(r.cpu_microseconds for r in rounds):,.0f} µs",
        f"{middle(r.database_microseconds for r in rounds):,.0f} µs",
    ]
