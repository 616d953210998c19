"""Workers, clocks and single polls of a service, forked from the process that has imported it."""

import itertools
import json
import os
import signal
import sys
from contextlib import suppress
from datetime import timedelta
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from celery.__main__ import main as celery

from tests.support.forks import Fork
from tests.system.live import Server, wait_until

_QUIET = ["--loglevel", "WARNING"]
_ALONE = ["--without-mingle", "--without-gossip", "--without-heartbeat"]
_DISPATCH = "connectors.tasks.dispatch"
BATCH = 50
"""Items of a batch: a tenth of the default, because larger batches test nothing more."""
_CALL = "from tests.support import workers; workers.{}()"


class Workers:
    """Processes of a service."""

    def __init__(self, live: Server) -> None:
        self._live, self._numbers = live, itertools.count(1)

    def worker(self, queues: str = "dispatch,poll") -> Fork:
        name = f"{next(self._numbers)}@%h"
        return self._start(
            _CALL.format("_work"), "-A", "config", "worker", "-n", name, "-c", "1", "-Q", queues, *_ALONE, *_QUIET
        )

    def clock(self) -> Fork:
        """Start a clock that only dispatches, every second."""
        schedule = self._live.directory / f"schedule-{next(self._numbers)}"
        return self._start(_CALL.format("_dispatch"), "beat", "--schedule", str(schedule), *_QUIET)

    def poll(self, **options: Any) -> Fork:
        """Start a worker that polls the due connectors and ends.

        Args:
            seconds: the time limit of its work.
            ahead: how many seconds its clock is fast.
            stop_at: the number of the batch after which it stops itself: the batch is in custody, but the cursor is not
                saved yet. The worker claims nothing after that.
        """
        return self._start(_CALL.format("_poll"), json.dumps(options))

    def reconcile(self, kill_at: str = "") -> Fork:
        """Start a worker that finishes the records that wait for custody, and ends.

        Args:
            kill_at: the path of a function; a call of it kills the worker.
        """
        return self._start(_CALL.format("_reconcile"), kill_at)

    def _start(self, program: str, *arguments: str) -> Fork:
        return self._live.fork(program, arguments, self._live.log)


def has_ended(worker: Fork) -> bool:
    return worker.poll() is not None


def go_on(worker: Fork) -> None:
    """Continue a process that stopped itself, and wait for its end."""
    os.kill(worker.pid, signal.SIGCONT)
    wait_until(lambda: has_ended(worker), "the stopped process has ended")


def has_stopped(worker: Fork) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{worker.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    return False


# ── What runs in the forks ──


def _work() -> None:
    _read_little_at_a_time()
    celery()


def _read_little_at_a_time() -> None:
    from connectors import sources

    sources.open_source = partial(sources.open_source, batch_items=BATCH)


def _dispatch() -> None:
    from config.celery import app

    app.loader.init_worker()
    app.finalize()
    app.conf.beat_schedule = {_DISPATCH: {**app.conf.beat_schedule[_DISPATCH], "schedule": 1}}
    app.start(sys.argv[1:])


def _reconcile() -> None:
    from custody import tasks

    if path := sys.argv[1]:
        module, _, name = path.rpartition(".")
        setattr(import_module(module), name, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
    tasks.reconcile()


def _poll() -> None:
    _poll_with(**json.loads(sys.argv[1]))


def _poll_with(seconds: float = 200, ahead: float = 0, stop_at: int = 0) -> None:
    from django.utils import timezone

    from connectors import services
    from connectors.services import claims, polling

    _read_little_at_a_time()
    now, take, batches = timezone.now, polling.take, itertools.count(1)

    def take_and_stop(*arguments: Any) -> Any:
        result = take(*arguments)
        if next(batches) == stop_at:
            os.kill(os.getpid(), signal.SIGSTOP)
            claims.claim = list
        return result

    timezone.now = lambda: now() + timedelta(seconds=ahead)
    polling.take = take_and_stop
    polling._MIN_POLL_SECONDS = 0
    services.poll_due(seconds)
