"""Growth of work with its input. Time and memory are compared with those of a quarter of the input, not with fixed
limits: linear work takes about four times as much, quadratic work sixteen times."""

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
    """Check that the cost of `work` on `make(size)` is at most linear, compared with `make(size // 4)`. A cost below
    the noise is accepted, and so is a ValueError.

    Tracing memory is slow, so memory is compared for a quarter of the size.
    """
    smallest, small, large = make(size // TIMES**2), make(size // TIMES), make(size)
    tries, share = [_seconds(work, large)], NOISE_SECONDS
    if min(tries) > share:
        share += TOLERATED * min(_seconds(work, small) for _ in range(2))
    while min(tries) > share and len(tries) < TRIES:  # other programs may slow down one try, but not all
        tries.append(_seconds(work, large))
    assert min(tries) <= share, f"seconds: {tries}, where {share} is allowed"
    budget, size_in_bytes = _NOISE_BYTES, peak(work, small)
    if size_in_bytes > budget:
        budget += TOLERATED * peak(work, smallest)
    assert size_in_bytes <= budget, f"bytes: {size_in_bytes}, where {budget} is allowed"


def assert_cheap(work: Callable[[Any], Any], small: Any, large: Any, idle: float) -> None:
    """Require at most six times the CPU for an input of four times the size, without the fixed cost of `work`.

    Args:
        idle: the fixed cost in seconds.
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
    """Return the cost of `work` on a minimal input."""
    return min(_seconds(work, smallest) for _ in range(TRIES))


def peak(work: Callable[[Any], Any], given: Any) -> int:
    """Return the peak memory of `work` in bytes, without its input."""
    tracemalloc.start()
    try:
        _done(work, given)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _seconds(work: Callable[[Any], Any], given: Any) -> float:
    """Return the CPU seconds of this thread, which other programs do not affect."""
    gc.disable()  # its cost depends on all loaded objects
    try:
        started = time.thread_time()
        _done(work, given)
        return time.thread_time() - started
    finally:
        gc.enable()


def _done(work: Callable[[Any], Any], given: Any) -> None:
    try:
        work(given)
    except ValueError:  # a refusal by a parser must be as cheap
        return
