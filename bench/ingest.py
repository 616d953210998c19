"""Single records over HTTP, compared with pgbench running the same SQL in the same database, and with the same work in
another framework."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench import load, peer
from bench.report import Figure, middle, ratio
from bench.rounds import SECONDS, interleaved
from bench.server import FASTAPI, Run, WebServer, metered
from bench.subject import Subject

CLIENTS = (1, 8, 32, 64)
OF_PGBENCH = {8: 0.35, 32: 0.5}
OF_PEER = {8: 0.9, 32: 1.0}
OF_PLAIN = {8: 0.9, 32: 0.9}
ORGANIZATIONS = 100
OF_ONE_ORGANIZATION = {8: 0.85, 32: 0.85}
"""The share of one organization's rate that many organizations have to reach."""
MAX_P99_MILLISECONDS = {32: 60}
MAX_MICROSECONDS = {8: 850, 32: 850}


@dataclass(frozen=True)
class Limit:
    """The result of a run of pgbench, which limits ours."""

    rate: float
    p99_milliseconds: float


def measure(subject: Subject, directory: Path, database: str) -> Iterator[Figure]:
    script = directory / "single.sql"
    script.write_text(peer.script([subject.rows]))
    many = subject.of_organizations(ORGANIZATIONS)
    with WebServer() as ours, WebServer(FASTAPI) as fastapi:
        for server in (ours, fastapi):
            load.singles(server.port, subject, run=f"warm-{server.port}", clients=16, seconds=2)
        contenders: dict[tuple[str, int], Callable[[int], Run | Limit]] = {}
        for clients in CLIENTS:
            contenders |= {
                ("plain", clients): partial(_post, ours, subject, "plain", clients),
                ("many", clients): partial(_post, ours, many, "many", clients),
                ("escaped", clients): partial(_post, ours, subject.escaped, "escaped", clients),
                ("fastapi", clients): partial(_post, fastapi, subject, "fastapi", clients),
                ("pgbench", clients): partial(_pgbench, database, script, clients),
            }
        results = interleaved("Ingest", contenders)
    for clients in CLIENTS:
        yield from _figures(clients, {name: runs for (name, of), runs in results.items() if of == clients})


def _post(server: WebServer, subject: Subject, name: str, clients: int, number: int) -> Run:
    run = f"{name}-{clients}-{number}"
    return metered(
        server, lambda: load.singles(server.port, subject, run=run, clients=clients, seconds=SECONDS), clients
    )


def _pgbench(database: str, script: Path, clients: int, number: int) -> Limit:
    log = script.with_name(f"pgbench-{clients}-{number}")
    rate = peer.run(database, script, clients=clients, seconds=SECONDS, log=log)
    return Limit(rate, peer.p99_milliseconds(log))


def _figures(clients: int, results: dict[str, list]) -> Iterator[Figure]:
    rates = {name: [run.rate for run in runs] for name, runs in results.items()}
    plain, fastapi, pgbench = results["plain"], results["fastapi"], results["pgbench"]
    at = f"{clients} client{'s' * (clients > 1)}"
    yield middle(f"{at}: records", rates["plain"], "/s")
    yield middle(f"{at}: records, FastAPI", rates["fastapi"], "/s", reference=True)
    yield middle(f"{at}: records, pgbench", rates["pgbench"], "/s", reference=True)
    yield ratio(f"{at}: share of pgbench", rates["plain"], rates["pgbench"], at_least=OF_PGBENCH.get(clients))
    yield ratio(f"{at}: share of FastAPI", rates["plain"], rates["fastapi"], at_least=OF_PEER.get(clients))
    yield ratio(f"{at}: escaped, share of plain", rates["escaped"], rates["plain"], at_least=OF_PLAIN.get(clients))
    at_least = OF_ONE_ORGANIZATION.get(clients)
    yield ratio(f"{at}: {ORGANIZATIONS} organizations, share of one", rates["many"], rates["plain"], at_least=at_least)
    at_most = MAX_P99_MILLISECONDS.get(clients)
    yield middle(f"{at}: p99", [run.p99_milliseconds for run in plain], "ms", at_most=at_most)
    yield middle(f"{at}: p99, FastAPI", [run.p99_milliseconds for run in fastapi], "ms", reference=True)
    yield middle(f"{at}: p99, pgbench", [run.p99_milliseconds for run in pgbench], "ms", reference=True)
    yield middle(f"{at}: CPU, web", [run.web_microseconds for run in plain], "µs")
    yield middle(f"{at}: CPU, PostgreSQL", [run.database_microseconds for run in plain], "µs")
    at_most = MAX_MICROSECONDS.get(clients)
    yield middle(f"{at}: CPU, both", [run.microseconds for run in plain], "µs", at_most=at_most)
    yield middle(f"{at}: CPU, both, escaped", [run.microseconds for run in results["escaped"]], "µs")
    costs = {name: [run.microseconds for run in results[name]] for name in ("plain", "many")}
    yield ratio(f"{at}: {ORGANIZATIONS} organizations, CPU of one", costs["many"], costs["plain"], at_most=1.2)
    yield middle(f"{at}: CPU, both, FastAPI", [run.microseconds for run in fastapi], "µs", reference=True)
