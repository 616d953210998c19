"""Records into the filesystem vault, compared with the same records into the database vault, on the same server."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench import load
from bench.report import Figure, middle, ratio
from bench.rounds import SECONDS, interleaved
from bench.server import Run, WebServer, metered
from bench.subject import Subject

CLIENTS = (8, 32)
BULK_CLIENTS, BULK_UPLOADS = 4, 1
MIN_SHARE = 0.7


def measure(subject: Subject, directory: Path) -> Iterator[Figure]:
    subjects = {"database": subject, "filesystem": subject.with_storage("filesystem", root=str(directory / "vault"))}
    with WebServer() as server:
        contenders: dict[tuple[str, str], Callable[[int], Run]] = {}
        for vault, of in subjects.items():
            load.singles(server.port, of, run="warm", clients=8, seconds=2)
            for clients in CLIENTS:
                contenders[vault, f"{clients} clients"] = partial(_post, server, of, vault, clients)
            contenders[vault, f"bulk, {BULK_CLIENTS} clients"] = partial(_upload, server, of, vault)
        results = interleaved("Vaults", contenders)
    for what in dict.fromkeys(what for _, what in contenders):
        database, filesystem = results["database", what], results["filesystem", what]
        rates = [run.rate for run in filesystem], [run.rate for run in database]
        yield middle(f"{what}: records, filesystem", rates[0], "/s")
        yield middle(f"{what}: records, database", rates[1], "/s", reference=True)
        yield ratio(f"{what}: share of the database vault", *rates, at_least=MIN_SHARE)
        if all(run.p99_milliseconds for run in filesystem):
            yield middle(f"{what}: p99, filesystem", [run.p99_milliseconds for run in filesystem], "ms")
        yield middle(f"{what}: CPU, both, filesystem", [run.microseconds for run in filesystem], "µs")


def _post(server: WebServer, subject: Subject, vault: str, clients: int, number: int) -> Run:
    run = f"{vault}-{clients}-{number}"
    return metered(
        server, lambda: load.singles(server.port, subject, run=run, clients=clients, seconds=SECONDS), clients
    )


def _upload(server: WebServer, subject: Subject, vault: str, number: int) -> Run:
    send = partial(load.batches, server.port, subject, clients=BULK_CLIENTS, uploads=BULK_UPLOADS)
    return metered(server, lambda: send(run=f"{vault}-bulk-{number}"))
