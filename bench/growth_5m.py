"""The same as `growth` with five million decisions and the same number of notices. It needs 20 GB of disk."""

from collections.abc import Iterator

from bench.growth import beside_small
from bench.report import Figure
from bench.rounds import sized
from bench.subject import Subject

LARGE = sized(5_000_000)


def measure(subject: Subject, database: str) -> Iterator[Figure]:
    yield from beside_small(subject, database, LARGE)
