"""The time of a request with a million decisions, compared with ten thousand.

Each size is a database of the same PostgreSQL with its own web server. The larger is a filled-up copy of the smaller.
Requests alternate between the two.
"""

import random
import statistics
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack

from django.db import connection

from accounts.models import Organization
from bench.growth_rows import fill
from bench.pages import TimedClient, percentile, signed_in
from bench.report import Figure
from bench.rounds import sized
from bench.server import WebServer
from bench.subject import OWNER, PLACEHOLDER, Subject
from config.progress import progress

SMALL, LARGE = sized(10_000), sized(1_000_000)
DECISIONS_A_NOTICE, MAX_NOTICES = 20, 50_000
CALLS, PAGES = sized(1000), sized(300, minimum=30)
MAX_GROWTH, MAX_MILLISECONDS = 1.15, 60

Path = Callable[[int, int], str]
"""The path of the nth request, given the number of decisions."""


def measure(subject: Subject, database: str) -> Iterator[Figure]:
    yield from beside_small(subject, database, LARGE)


def beside_small(subject: Subject, database: str, large: int) -> Iterator[Figure]:
    token, cookie = {"Authorization": f"Bearer {subject.token}"}, signed_in(OWNER)
    databases = _filled(database, large)
    with ExitStack() as stack:
        ports = {size: stack.enter_context(WebServer(DATABASE_URL=url)).port for size, url in sorted(databases.items())}
        calls = {size: TimedClient(port, token) for size, port in ports.items()}
        pages = {size: TimedClient(port, cookie) for size, port in ports.items()}
        yield from _figures("ingest", _ingest(calls, subject))
        for name, path in _calls().items():
            yield from _figures(name, _times(name, calls, path, CALLS))
        for name, path in _pages().items():
            yield from _figures(name, _times(name, pages, path, PAGES), first_byte=MAX_MILLISECONDS)


def _filled(database: str, large: int) -> dict[int, str]:
    """Fill a database of each size, and return their URLs."""
    organization, other = Organization.objects.get(), database + "_large"
    fill(organization, decisions=SMALL, notices=SMALL // DECISIONS_A_NOTICE)
    _settle()
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_database()")
        (name,) = cursor.fetchone()
    connection.close()  # PostgreSQL copies a database only while it has no connection
    connection.settings_dict["NAME"] = "postgres"
    with connection.cursor() as cursor:
        cursor.execute(f'CREATE DATABASE "{name}_large" TEMPLATE "{name}"')
    connection.close()
    connection.settings_dict["NAME"] = f"{name}_large"
    more = large - SMALL
    fill(organization, decisions=more, notices=min(more // DECISIONS_A_NOTICE, MAX_NOTICES))
    _settle()
    return {SMALL: database, large: other}


def _settle() -> None:
    """Run the database's background work now, not during the measurement."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("CHECKPOINT")


def _calls() -> dict[str, Path]:
    return {
        "list": lambda n, size: "/v1/decisions",
        "filter": lambda n, size: f"/v1/decisions?system=System%20{n % 20}",
        "detail": lambda n, size: f"/v1/decisions/{_decision_id(size)}",
        "receipt": lambda n, size: f"/v1/decisions/grown-{n % CALLS}/receipt",
    }


def _pages() -> dict[str, Path]:
    decisions = "/admin/decisions/decision/"
    return {
        "start page": lambda n, size: "/admin/",
        "list page": lambda n, size: decisions,
        "search, one id": lambda n, size: f"{decisions}?q={_decision_id(size)}",
        "search, the beginning of an id": lambda n, size: f"{decisions}?q=loan-{10 + n % 90}",
        "queue": lambda n, size: "/admin/notices/notice/",
    }


def _decision_id(size: int) -> str:
    """Return the id of a random decision that `fill` made."""
    number = random.randrange(1, size)
    return f"{('loan', 'claim', 'application')[number % 3]}-{number}"


def _ingest(clients: Mapping[int, TimedClient], subject: Subject) -> dict[int, list[float]]:
    times: dict[int, list[float]] = {size: [] for size in clients}
    for number in range(CALLS):
        body = subject.record.replace(PLACEHOLDER.encode(), f"grown-{number}".encode())
        for size in random.sample(list(clients), len(clients)):
            times[size].append(clients[size].milliseconds("/v1/ingest/srf", body))
    return times


def _times(name: str, clients: Mapping[int, TimedClient], path: Path, requests: int) -> dict[int, list[float]]:
    times: dict[int, list[float]] = {size: [] for size in clients}
    for size, client in clients.items():
        client.warm(path(0, size))
    with progress(name, requests) as advance:
        for number in range(requests):
            for size in random.sample(list(clients), len(clients)):
                times[size].append(clients[size].milliseconds(path(number, size)))
            advance(1)
    return times


def _figures(name: str, times: dict[int, list[float]], first_byte: float | None = None) -> Iterator[Figure]:
    small, large = (times[size] for size in sorted(times))
    many = f"{max(times):,}"
    yield Figure(f"{name}: at {many}", statistics.median(large), "ms", at_most=first_byte)
    yield Figure(f"{name}: at {many}, p99", percentile(large, 0.99), "ms")
    median, p99 = statistics.median(large) / statistics.median(small), percentile(large, 0.99) / percentile(small, 0.99)
    yield Figure(f"{name}: beside {min(times):,}", median, at_most=MAX_GROWTH)
    yield Figure(f"{name}: beside {min(times):,}, p99", p99, at_most=MAX_GROWTH)
