"""Pauses between the retries of work that fails."""

import random
from datetime import timedelta

_FIRST_PAUSE = timedelta(minutes=1)
MAX_PAUSE = timedelta(hours=1)


def pause(failures: int, longest: timedelta = MAX_PAUSE, *, first: timedelta = _FIRST_PAUSE) -> timedelta:
    """Return how long to wait after so many failures in a row.

    The pause doubles each time, from `first` to `longest`, less up to a quarter, so that what failed together is not
    retried together.
    """
    backoff: timedelta = min(first * 2 ** min(failures - 1, 10), longest) * random.uniform(0.75, 1)  # noqa: S311
    return backoff
