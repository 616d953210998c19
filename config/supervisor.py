"""A supervisor of processes: it restarts those that end, and stops all if an essential one cannot start."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

from config import retries

_STEADY_SECONDS = 30  # a process that ran so long has started
_MAX_TRIES = 3
_FIRST_PAUSE, _MAX_PAUSE = timedelta(seconds=1), timedelta(seconds=30)
_MAX_STOP_SECONDS = 9  # the web server takes 8 at most. Leases let another worker resume a killed worker's tasks
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_POLL_SECONDS = 0.1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_PR_SET_PDEATHSIG = 1  # prctl(2)


class CannotStart(Exception):
    """An essential process exited with an error right after each start."""


class Part:
    """A supervised process. `options` are those of `subprocess.Popen`.

    Args:
        essential: whether the other parts are useless if this one cannot start.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        say: Callable[[str], object],
        *,
        essential: bool = False,
        **options: Any,
    ) -> None:
        self.name, self.command, self.say, self.essential, self.options = name, command, say, essential, options
        self.process: subprocess.Popen[bytes] | None = None
        self.has_run, self.due = False, 0.0
        self.failures = 0  # ends right after a start, in a row
        self.refusals = 0  # those with an exit code of the process itself. A signal comes from outside

    def tend(self) -> None:
        """Start the process if its start is due. If it has ended, plan the next start. Raises CannotStart."""
        if self.process is None:
            if time.monotonic() >= self.due:
                self._start()
        elif self.process.poll() is not None:
            self.kill()
            self._plan(_described(self.process.returncode), refused=self.process.returncode > 0)

    def _start(self) -> None:
        self.started = time.monotonic()
        try:
            # A separate process group: Ctrl-C in the terminal reaches only us, and we can kill its leftovers.
            self.process = subprocess.Popen(  # noqa: S603
                self.command, start_new_session=True, preexec_fn=_end_with_us, **self.options
            )
        except OSError as error:  # no memory or no free process
            self._plan(str(error), refused=False)

    def _plan(self, reason: str, *, refused: bool) -> None:
        """Plan the next start after the process ended or could not be created. Raises CannotStart."""
        self.process = None
        now = time.monotonic()
        steady = now - self.started >= _STEADY_SECONDS
        self.has_run = self.has_run or steady
        self.failures = 0 if steady else self.failures + 1
        self.refusals = self.refusals + 1 if refused and not steady else 0
        if self.essential and self.refusals >= _MAX_TRIES and not self.has_run:
            raise CannotStart(
                f"The {self.name} cannot start: {reason}, {_MAX_TRIES} times at once. Its last lines say why."
            )
        pause = retries.pause(self.failures, _MAX_PAUSE, first=_FIRST_PAUSE).total_seconds() if self.failures else 0
        self.due = now + pause
        failing = f"keeps failing ({reason}, {self.failures} times right after its start)"
        event = failing if self.failures >= _MAX_TRIES else f"ended ({reason})"
        self.say(f"The {self.name} {event}. It is started again{f' in {pause:.1f} s' * bool(pause)}.")

    def ask_to_stop(self) -> None:
        if self.process:
            self.process.terminate()

    def wait(self, deadline: float) -> None:
        """Wait until the process has ended, at the latest until the deadline. Then kill its group."""
        if self.process:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(max(deadline - time.monotonic(), 0))
            self.kill()
            self.process.wait()

    def kill(self) -> None:
        """Kill the whole process group: children of a dead web server would keep listening on its port."""
        if self.process:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)


def run(parts: Sequence[Part]) -> None:
    """Keep `parts` running until SIGINT (Ctrl-C), SIGTERM or SIGHUP (the terminal closes), then stop all.

    Raises:
        CannotStart: an essential part exited with an error three times in a row within half a minute of its start, and
            has never run longer. The others are stopped too.
    """
    with _stop_event() as stop:
        try:
            while not stop.wait(_POLL_SECONDS):
                for part in parts:
                    part.tend()
        finally:
            for part in parts:
                part.ask_to_stop()
            deadline = time.monotonic() + _MAX_STOP_SECONDS
            for part in parts:
                part.wait(deadline)


@contextmanager
def _stop_event() -> Iterator[threading.Event]:
    """Yield an event that the stop signals set. Repeated signals do no more."""
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in _STOP_SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_with_us() -> None:
    """Make the kernel end this part if the supervisor is killed, and so cannot stop it. Linux only."""
    if _LIBC:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _described(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
