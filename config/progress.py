"""Progress of long work: a bar on a terminal, plain lines everywhere else."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

_SECONDS_BETWEEN_LINES = 5


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show the progress of work on standard error.

    Args:
        what: name of the work, in a few words.
        total: number of units, or None if unknown.

    Yields:
        A function to call with the number of units done since the last call.
    """
    if sys.stderr.isatty():
        with Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        ) as bar:
            task = bar.add_task(what, total=total)
            yield lambda units: bar.advance(task, units)
        return
    yield from _lines(what, total)


def _lines(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    done, last = 0, time.monotonic()
    of = f" of {total}" if total is not None else ""

    def advance(units: int) -> None:
        nonlocal done, last
        done += units
        if time.monotonic() - last >= _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            sys.stderr.write(f"{what}: {done}{of}\n")

    yield advance
    sys.stderr.write(f"{what}: {done}{of}, done\n")
