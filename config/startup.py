"""What a web server's process does once, before it answers anybody."""

import gc

from django.core.checks import run_checks
from django.core.management.base import SystemCheckError


def check() -> None:
    """`manage.py` runs the checks before its commands; a server that skipped them would start with a key others can
    read. Raises SystemCheckError."""
    serious = [str(problem) for problem in run_checks() if problem.is_serious()]
    if serious:
        raise SystemCheckError("\n".join(serious))


def calm_garbage_collection() -> None:
    """What is loaded now stays for the life of the process: leave it out of garbage collection. Looking for garbage
    first would take as long as a tenth of the start, and finds next to none."""
    gc.freeze()
