"""The same as `growth` with five million decisions: of notices there are no more, and the disk needs 20 GB."""

from collections.abc import Iterator

from bench.growth import beside_small
from bench.report import Figure
from bench.rounds import sized
from bench.subject import Subject

LARGE = sized(5_000_000)


def measure(subject: Subject, database: str) -> Iterator[Figure]:
    yield from beside_small(subject, database, LARGE)
