"""Workers, clocks and single polls of a service under test, each a process group of its own.

They are forks of one process that has imported the service, for importing takes longer than most of what they do.

python -m tests.support.workers     takes commands from its standard input and ends, with all of them, when that does
"""

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.databases import CHECKOUT
from tests.system.live import Server, wait_until

_DISPATCH = "connectors.tasks.dispatch"


class Workers:
    """Starts processes of a service. Each is known by the id of its process, which leads a group."""

    def __init__(self, live: Server, forking: "subprocess.Popen[str]") -> None:
        self._forking, self._schedule = forking, live.directory / "schedule"
        self._numbers = itertools.count(1)

    def worker(self) -> int:
        quiet = ["--without-mingle", "--without-gossip", "--without-heartbeat", "--loglevel", "WARNING"]
        return self._start(
            "celery", ["worker", "-n", f"{next(self._numbers)}@%h", "-c", "1", "-Q", "dispatch,poll", *quiet]
        )

    def clock(self) -> int:
        """A clock that dispatches every second, and asks for nothing else."""
        return self._start(
            "celery", ["beat", "--schedule", f"{self._schedule}-{next(self._numbers)}", "--loglevel", "WARNING"]
        )

    def poll(self, **options: Any) -> int:
        """A worker that polls what is due and ends.

        Args:
            seconds: of work at most.
            ahead: by how many seconds its clock is.
            stop_at: the number of the batch at which it stops itself: that is in custody, and no cursor says so yet.
                It claims nothing after that.
        """
        return self._start("poll", options)

    def _start(self, *command: Any) -> int:
        assert self._forking.stdin is not None
        assert self._forking.stdout is not None
        print(json.dumps(command), file=self._forking.stdin, flush=True)
        return int(self._forking.stdout.readline())


@contextmanager
def workers(live: Server, **environment: str) -> Iterator[Workers]:
    variables = {**live.environment, "DJANGO_SETTINGS_MODULE": "config.settings", **environment}
    with live.log.open("ab") as log:
        forking = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.support.workers"],
            cwd=CHECKOUT, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip
    with forking:  # which closes its standard input
        yield Workers(live, forking)


def kill(pid: int) -> None:
    """As a power cut would: nothing of it gets to run again."""
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    wait_until(lambda: has_ended(pid), "the killed process has ended")


def go_on(pid: int) -> None:
    """Let a process that stopped itself go on to its end."""
    os.kill(pid, signal.SIGCONT)
    wait_until(lambda: has_ended(pid), "the process that was stopped has ended")


def has_ended(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def has_stopped(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    return False


def _main() -> None:
    import django

    django.setup()
    from config.celery import app

    app.loader.init_worker()
    app.finalize()
    entry = app.conf.beat_schedule[_DISPATCH]
    app.conf.beat_schedule = {_DISPATCH: {**entry, "schedule": 1}}
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # whatever ends is gone
    started = []
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            _run(*json.loads(line))
        started.append(pid)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()
    for pid in started:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def _run(what: str, options: Any) -> None:
    """In the fork, which never returns."""
    try:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        if what == "celery":
            from config.celery import app

            app.start(options)
        else:
            _poll(**options)
    finally:
        os._exit(0)


def _poll(seconds: float = 200, ahead: float = 0, stop_at: int = 0) -> None:
    from django.utils import timezone

    from connectors import services
    from connectors.services import polling

    now, take, batches = timezone.now, polling.take, itertools.count(1)

    def take_and_stop(*arguments: Any) -> Any:
        taken = take(*arguments)
        if next(batches) == stop_at:
            os.kill(os.getpid(), signal.SIGSTOP)
            polling._claim = list
        return taken

    timezone.now = lambda: now() + timedelta(seconds=ahead)
    polling.take = take_and_stop
    polling._LEAST_SECONDS = 0
    services.poll_due(seconds)


if __name__ == "__main__":
    _main()
