"""Rounds of a part: each round runs all contenders in random order, so that a machine that speeds up or slows down does
so for all of them. Only the ratio within a round counts."""

import os
import random
from collections.abc import Callable, Mapping
from typing import TypeVar

from config.progress import progress

SMOKE = bool(os.environ.get("DRS_BENCH_SMOKE"))
"""Run everything as briefly as possible, to see that it runs. The figures mean nothing and are not stored."""
ROUNDS, SECONDS = (1, 1) if SMOKE else (5, 3)

K, V = TypeVar("K"), TypeVar("V")


def sized(number: int, *, minimum: int = 100) -> int:
    return max(number // 100, minimum) if SMOKE else number


def interleaved(what: str, contenders: Mapping[K, Callable[[int], V]], rounds: int = ROUNDS) -> dict[K, list[V]]:
    """Call each contender with the number of each round, and return its results."""
    results: dict[K, list[V]] = {key: [] for key in contenders}
    with progress(what, rounds * len(contenders)) as advance:
        for number in range(rounds):
            for key in random.sample(list(contenders), len(contenders)):
                results[key].append(contenders[key](number))
                advance(1)
    return results
