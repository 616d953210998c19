"""Steps of a web server's process before its first request."""

import gc

from django.core.checks import run_checks
from django.core.management.base import SystemCheckError


def check() -> None:
    """Run Django's system checks, as `manage.py` does before commands: for example, refuse a key that others can read.

    Raises:
        SystemCheckError
    """
    serious = [str(problem) for problem in run_checks() if problem.is_serious()]
    if serious:
        raise SystemCheckError("\n".join(serious))


def calm_garbage_collection() -> None:
    """Exclude the objects loaded so far, which live as long as the process, from garbage collection.

    Collecting first would take a tenth of the start and free almost nothing.
    """
    gc.freeze()
