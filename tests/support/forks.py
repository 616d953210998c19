"""Processes of the service, as forks of one that has imported it: that takes longer than most of what the processes
then do. The settings are read anew for each service.

They are started as production starts them in tests/system/test_make_run.py and test_container.py.
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
    """A process of the service with an environment, which is all that it knows; its forks run programs.

    It ends, with all of them, when it is told to or nobody has it any more.

    Args:
        imported: the module that all of its forks have imported with this environment.
        log: the file to whose end it writes what goes wrong.
    """

    def __init__(self, imported: str, environment: Mapping[str, str], log: Path) -> None:
        self._log, self._lock = log, threading.Lock()
        self._asks, answers = _context.Pipe()
        self._process = _context.Process(target=_serve, args=(answers, imported, dict(environment), str(log)))
        self._process.start()
        answers.close()
        Finalize(self, self._asks.close, exitpriority=0)  # or a program that forgot to end it waits for it at its exit

    def fork(
        self,
        program: str,
        arguments: Sequence[str],
        output: Path,
        errors: Path | None = None,
        input: Path | None = None,
    ) -> "Fork":
        """Python that runs with `arguments` in `sys.argv`.

        Args:
            output, errors: the files to whose end it writes; errors go to the same one unless another is given.
            input: the file that it reads; else nothing.
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
    """A running process that leads a group, as `subprocess.Popen` has it."""

    def __init__(self, service: Service, pid: int) -> None:
        self._service, self.pid = service, pid
        self._code: int | None = None

    def poll(self) -> int | None:
        """Its exit code, once it has ended."""
        if self._code is None:
            self._code = self._service.ask(self.pid)
        return self._code

    def wait(self, seconds: float = float("inf")) -> int:
        """Raises subprocess.TimeoutExpired."""
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
        """End its whole group at once, as a power cut would."""
        with suppress(ProcessLookupError):  # it had ended by itself
            os.killpg(self.pid, signal.SIGKILL)
        self.wait()


def run(program: str, environment: Mapping[str, str], *arguments: str) -> CompletedProcess[str]:
    """A program that ends by itself, in a service of its own."""
    with tempfile.TemporaryDirectory(prefix="drs-run-") as directory:
        printed, errors = Path(directory) / "printed", Path(directory) / "errors"
        service = Service("django", environment, errors)
        try:
            code = service.fork(program, arguments, printed, errors).wait()
        finally:
            service.end()
        return CompletedProcess(arguments, code, printed.read_text(), errors.read_text())


def _serve(asked: Connection, imported: str, environment: dict[str, str], log: str) -> None:
    """Fork for each program, and tell of each process that is asked for whether it has ended."""
    multiprocessing.set_start_method("fork", force=True)  # as it is in a process that was not forked this way
    os.setsid()
    os.chdir(CHECKOUT)
    _use(os.devnull, log, log)
    from tests.support.imported import with_settings  # imports the service, which whoever starts us need not

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
    sys.stdin = os.fdopen(0, closefd=False)  # which a process that was forked this way begins without
    for descriptor, path in enumerate(outputs, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT), descriptor)


def _run(program: str, arguments: list[str], *files: str) -> None:
    os.setsid()
    _use(*files)
    sys.argv = ["program", *arguments]
    exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})
