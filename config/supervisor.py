"""Keeps processes running: what ends is started again, and what never gets to run ends them all."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

_STEADY_SECONDS = 30  # who ran so long has started
_TRIES = 3
_LONGEST_PAUSE = 30.0
_MAX_STOP_SECONDS = 9  # the web server takes 8 at most; a lease keeps what a killed worker had begun
_TO_STOP = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LOOK_EVERY = 0.1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_PR_SET_PDEATHSIG = 1  # prctl(2)


class CannotStart(Exception):
    """A process ended as often as it was started, each time at once."""


class Part:
    """One process that is kept running. `options` are those of `subprocess.Popen`."""

    def __init__(self, name: str, command: Sequence[str], say: Callable[[str], object], **options: Any) -> None:
        self.name, self.command, self.say, self.options = name, command, say, options
        self.process: subprocess.Popen[bytes] | None = None
        self.failures, self.has_run, self.due = 0, False, 0.0

    def tend(self) -> None:
        """Start it if it is time; if it has ended, plan the next start. Raises CannotStart."""
        now = time.monotonic()
        if self.process is None:
            if now >= self.due:
                self.started = now
                # A group of its own: Ctrl-C in the terminal is for us, and what it leaves behind can be ended.
                self.process = subprocess.Popen(  # noqa: S603
                    self.command, start_new_session=True, preexec_fn=_end_with_us, **self.options
                )
        elif self.process.poll() is not None:
            self._ended(self.process.returncode, now)

    def _ended(self, code: int, now: float) -> None:
        self.kill()
        self.process = None
        steady = now - self.started >= _STEADY_SECONDS
        self.has_run, self.failures = self.has_run or steady, 0 if steady else self.failures + 1
        if self.failures >= _TRIES and not self.has_run:
            raise CannotStart(
                f"The {self.name} cannot start: {_described(code)}, {_TRIES} times at once. Its last lines say why."
            )
        pause = min(2.0 ** (self.failures - 1), _LONGEST_PAUSE) if self.failures else 0
        self.due = now + pause
        self.say(f"The {self.name} ended ({_described(code)}). It is started again{f' in {pause:g} s' * bool(pause)}.")

    def ask_to_stop(self) -> None:
        if self.process:
            self.process.terminate()

    def wait(self, deadline: float) -> None:
        """Until it has ended with everything it started; at the deadline it is ended."""
        if self.process:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(max(deadline - time.monotonic(), 0))
            self.kill()
            self.process.wait()

    def kill(self) -> None:
        """End its whole process group: what a dead web server leaves behind would go on listening at its port."""
        if self.process:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)


def run(parts: Sequence[Part]) -> None:
    """Keep `parts` running until SIGINT (Ctrl-C), SIGTERM or SIGHUP (the terminal is closed) comes; then end them all.

    Raises:
        CannotStart: one of them ended three times, each time within half a minute, and has never run longer. The others
            are ended too.
    """
    with _told_to_stop() as stop:
        try:
            while not stop.wait(_LOOK_EVERY):
                for part in parts:
                    part.tend()
        finally:
            for part in parts:
                part.ask_to_stop()
            deadline = time.monotonic() + _MAX_STOP_SECONDS
            for part in parts:
                part.wait(deadline)


@contextmanager
def _told_to_stop() -> Iterator[threading.Event]:
    """Yields an event that these signals set, however often they come."""
    stop = threading.Event()
    before = {each: signal.signal(each, lambda *_: stop.set()) for each in _TO_STOP}
    try:
        yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _end_with_us() -> None:
    """Have the kernel end a part when we are killed, and can ask nobody to stop any more: where it can, on Linux."""
    if _LIBC:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _described(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
