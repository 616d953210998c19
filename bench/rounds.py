"""How a part measures: all contenders in every round, each time in another order, so that a machine that speeds up or
slows down does so for all of them. What counts is the ratio within a round."""

import os
import random
from collections.abc import Callable, Mapping
from typing import TypeVar

from config.progress import progress

SMOKE = bool(os.environ.get("DRS_BENCH_SMOKE"))
"""Run everything as briefly as possible, to see that it runs: the figures mean nothing, and are not kept."""
ROUNDS, SECONDS = (1, 1) if SMOKE else (5, 3)

K, V = TypeVar("K"), TypeVar("V")


def sized(number: int, *, least: int = 100) -> int:
    return max(number // 100, least) if SMOKE else number


def interleaved(what: str, contenders: Mapping[K, Callable[[int], V]], rounds: int = ROUNDS) -> dict[K, list[V]]:
    """The results of each contender, round by round. They are called with the round's number."""
    results: dict[K, list[V]] = {key: [] for key in contenders}
    with progress(what, rounds * len(contenders)) as advance:
        for number in range(rounds):
            for key in random.sample(list(contenders), len(contenders)):
                results[key].append(contenders[key](number))
                advance(1)
    return results
