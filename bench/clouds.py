"""Ingest into a bucket, compared with ingest into the database and with the emulator's puts from as many clients. The
emulator runs on the same computer, so it takes CPU time from ingest."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from django.conf import settings

from bench import load, puts
from bench.load import Load
from bench.report import Figure, middle, ratio
from bench.rounds import SECONDS, interleaved
from bench.server import Run, WebServer, metered
from bench.subject import Subject
from custody.models import Entry
from tests.support.aws_server import REGION, ROOT, AwsServer, aws_server

CLIENTS = 32
BULK_CLIENTS, BULK_UPLOADS = 2, 1
PARALLEL_PUTS = 16
"""Parallel puts of these uploads together."""
MIN_SHARE = 0.5
"""Share of the database's throughput that the bucket has to reach."""


def measure(subject: Subject, directory: Path) -> Iterator[Figure]:
    with aws_server() as emulator:
        subjects = {"bucket": _subject_of(subject, emulator), "database": subject}
        with WebServer() as server:
            singly = partial(load.singles, server.port, clients=CLIENTS, seconds=SECONDS)
            upload = partial(load.batches, server.port, clients=BULK_CLIENTS, uploads=BULK_UPLOADS)
            for sender in subjects.values():
                load.singles(server.port, sender, run="warm-clouds", clients=8, seconds=2)
            put = partial(puts.run, emulator, "records", bytes(subject.rows.sealed.body), directory, seconds=SECONDS)
            for what, send, clients in (
                (f"single records, {CLIENTS} clients", singly, CLIENTS),
                (f"bulk, {BULK_CLIENTS} clients", upload, PARALLEL_PUTS),
            ):
                in_flight = CLIENTS if send is singly else 0
                contenders: dict[str, Callable[[int], Run | float]] = {
                    name: partial(_send, server, send, of, f"{clients}-{name}", in_flight)
                    for name, of in subjects.items()
                }
                contenders["emulator"] = partial(_put, put, clients)
                yield from _figures(what, interleaved(what, contenders))
    if Entry.objects.unscoped("of all").exclude(state=Entry.State.STORED).exists():
        raise SystemExit("Some records did not get to the bucket.")


def _figures(what: str, results: dict[str, list]) -> Iterator[Figure]:
    bucket = results["bucket"]
    rates = {name: [getattr(run, "rate", run) for run in runs] for name, runs in results.items()}
    yield middle(f"{what}: records into the bucket", rates["bucket"], "/s")
    yield middle(f"{what}: records into the database", rates["database"], "/s", reference=True)
    yield middle(f"{what}: puts of the emulator alone", rates["emulator"], "/s", reference=True)
    yield ratio(f"{what}: share of the database", rates["bucket"], rates["database"], at_least=MIN_SHARE)
    yield ratio(f"{what}: share of the emulator", rates["bucket"], rates["emulator"])
    yield middle(f"{what}: CPU, web", [run.web_microseconds for run in bucket], "µs")
    yield middle(f"{what}: CPU, PostgreSQL", [run.database_microseconds for run in bucket], "µs")


def _send(
    server: WebServer, send: Callable[..., Load], subject: Subject, name: str, in_flight: int, number: int
) -> Run:
    return metered(server, lambda: send(subject, run=f"clouds-{name}-{number}"), in_flight)


def _put(put: Callable[..., float], clients: int, number: int) -> float:
    return put(run=f"clouds-{clients}-{number}", clients=clients)


def _subject_of(subject: Subject, emulator: AwsServer) -> Subject:
    """Return the same record, sent by an organization that stores in the emulator's bucket."""
    settings.ALLOWED_PRIVATE_HOSTS = ["localhost"]
    os.environ |= {"ALLOWED_PRIVATE_HOSTS": "localhost", "DRS_SECRET_BENCH": ROOT}
    emulator.client("s3").create_bucket(Bucket="records")
    config = {"bucket": "records", "region": REGION, "secret_ref": "env:DRS_SECRET_BENCH"}
    return subject.with_storage("aws", endpoint=f"http://localhost:{emulator.port}", **config)
