"""Processes of the service, forked from a process that has imported it: the import takes longer than most tests. Each
service reads its own settings.

tests/system/test_make_run.py and test_container.py start processes as production does.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.util import Finalize
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired
from typing import Any

from tests.databases import CHECKOUT

CELERY = "from celery.__main__ import main; main()"
MANAGE = "import manage; manage.main()"

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.support.imported"])


class Service:
    """A process of the service with its own environment, whose forks run programs.

    The process and its forks end with `end()`, or when this object is garbage-collected.

    Args:
        imported: the module that all forks have imported with this environment.
        log: the file to which errors are appended.
    """

    def __init__(self, imported: str, environment: Mapping[str, str], log: Path) -> None:
        self._log, self._lock = log, threading.Lock()
        self._asks, answers = _context.Pipe()
        self._process = _context.Process(target=_serve, args=(answers, imported, dict(environment), str(log)))
        self._process.start()
        answers.close()
        Finalize(self, self._asks.close, exitpriority=0)  # else a program that does not call `end` hangs at its exit

    def fork(
        self,
        program: str,
        arguments: Sequence[str],
        output: Path,
        errors: Path | None = None,
        input: Path | None = None,
    ) -> "Fork":
        """Run a Python program with `arguments` in `sys.argv`.

        Args:
            output, errors: the files to which the program appends; by default errors go to `output`.
            input: the file that the program reads; by default it reads nothing.
        """
        files = (str(input or os.devnull), str(output), str(errors or output))
        return Fork(self, self.ask(program, list(arguments), *files))

    def ask(self, *question: Any) -> Any:
        with self._lock:
            try:
                self._asks.send(question)
                return self._asks.recv()
            except (EOFError, OSError):
                raise AssertionError(f"the service could not be imported:\n{self._log.read_text()}") from None

    def end(self) -> None:
        self._asks.close()
        self._process.join()


class Fork:
    """A running process that leads a group, with the methods of `subprocess.Popen`."""

    def __init__(self, service: Service, pid: int) -> None:
        self._service, self.pid = service, pid
        self._code: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, or None while the process runs."""
        if self._code is None:
            self._code = self._service.ask(self.pid)
        return self._code

    def wait(self, seconds: float = float("inf")) -> int:
        """Wait for the end, and return the exit code. Raises subprocess.TimeoutExpired."""
        deadline = time.monotonic() + seconds
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise TimeoutExpired(str(self.pid), seconds)
            time.sleep(0.01)
        return code

    def terminate(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """End the whole group at once, as a power cut does."""
        with suppress(ProcessLookupError):  # the process has ended
            os.killpg(self.pid, signal.SIGKILL)
        self.wait()


def run(program: str, environment: Mapping[str, str], *arguments: str) -> CompletedProcess[str]:
    """Run a program to its end in a new service."""
    with tempfile.TemporaryDirectory(prefix="drs-run-") as directory:
        printed, errors = Path(directory) / "printed", Path(directory) / "errors"
        service = Service("django", environment, errors)
        try:
            code = service.fork(program, arguments, printed, errors).wait()
        finally:
            service.end()
        return CompletedProcess(arguments, code, printed.read_text(), errors.read_text())


def _serve(asked: Connection, imported: str, environment: dict[str, str], log: str) -> None:
    """Fork for each program, and answer for each process whether it has ended."""
    multiprocessing.set_start_method("fork", force=True)  # the default in a process that the fork server did not start
    os.setsid()
    os.chdir(CHECKOUT)
    _use(os.devnull, log, log)
    from tests.support.imported import with_settings  # imports the service, which the parent need not

    with_settings(environment)
    import_module(imported)
    running = set()
    with suppress(EOFError):
        while True:
            question = asked.recv()
            if isinstance(question[0], int):
                pid, status = os.waitpid(question[0], os.WNOHANG)
                running.discard(pid)
                asked.send(os.waitstatus_to_exitcode(status) if pid else None)
            elif pid := os.fork():
                running.add(pid)
                asked.send(pid)
            else:
                asked.close()
                return _run(*question)
    for pid in running:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def _use(input: str, *outputs: str) -> None:
    os.dup2(os.open(input, os.O_RDONLY), 0)
    sys.stdin = os.fdopen(0, closefd=False)  # a process of the fork server starts without it
    for descriptor, path in enumerate(outputs, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT), descriptor)


def _run(program: str, arguments: list[str], *files: str) -> None:
    os.setsid()
    _use(*files)
    sys.argv = ["program", *arguments]
    exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})
