"""The pages of `back_office_sqlite` with a million decisions."""

from collections.abc import Iterator

from bench.back_office import NOTICES, Rows, with_rows
from bench.report import Figure
from bench.rounds import sized


def measure() -> Iterator[Figure]:
    yield from with_rows(Rows(sized(50_000), NOTICES, copies=19))
