"""How work grows with its input. Time and memory are compared with those of a quarter of the input, never measured in
seconds: what is linear takes about four times as much, what takes the square sixteen times."""

import gc
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

TIMES = 4
TOLERATED = 10
TRIES, NOISE_SECONDS, _NOISE_BYTES = 3, 0.05, 2**20
CHEAP = 6


def assert_linear(work: Callable[[Any], Any], make: Callable[[int], Any], size: int) -> None:
    """`work` on `make(size)` takes no more than its share beside `make(size // 4)`, unless it is too little to tell.
    What both raise is no matter.

    Tracing memory is slow, so that is compared for a quarter of the size.
    """
    least, small, large = make(size // TIMES**2), make(size // TIMES), make(size)
    tries, share = [_seconds(work, large)], NOISE_SECONDS
    if min(tries) > share:
        share += TOLERATED * min(_seconds(work, small) for _ in range(2))
    while min(tries) > share and len(tries) < TRIES:  # something else may lengthen one try, but not each
        tries.append(_seconds(work, large))
    assert min(tries) <= share, f"seconds: {tries}, where {share} is allowed"
    most, taken = _NOISE_BYTES, peak(work, small)
    if taken > most:
        most += TOLERATED * peak(work, least)
    assert taken <= most, f"bytes: {taken}, where {most} is allowed"


def assert_cheap(work: Callable[[Any], Any], small: Any, large: Any, idle: float) -> None:
    """Require at most six times the CPU for an input of four times the size, beside what work costs with none.

    Args:
        idle: that cost in seconds.
    """
    budget = NOISE_SECONDS
    seconds = _seconds(work, large) - idle
    if seconds > budget:
        budget += CHEAP * max(0, min(_seconds(work, small) for _ in range(2)) - idle)
    for _ in range(TRIES):
        if seconds <= budget:
            return
        seconds = min(seconds, _seconds(work, large) - idle)
    assert seconds <= budget, f"{seconds:.2f} s, where {budget:.2f} s are allowed"


def idle_seconds(work: Callable[[Any], Any], smallest: Any) -> float:
    """Return what work costs on an input of almost nothing."""
    return min(_seconds(work, smallest) for _ in range(TRIES))


def peak(work: Callable[[Any], Any], given: Any) -> int:
    """The most bytes that work took at a time beside its input."""
    tracemalloc.start()
    try:
        _done(work, given)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _seconds(work: Callable[[Any], Any], given: Any) -> float:
    """Of this thread's processor, which other programs do not lengthen."""
    gc.disable()  # how long it searches depends on all that the tests have loaded
    try:
        started = time.thread_time()
        _done(work, given)
        return time.thread_time() - started
    finally:
        gc.enable()


def _done(work: Callable[[Any], Any], given: Any) -> None:
    try:
        work(given)
    except ValueError:  # a parser refused it, which must be as cheap
        return
