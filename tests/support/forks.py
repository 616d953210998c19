"""Processes of the service, as forks of one that has imported the libraries: those take longer to import than most of
what the processes then do.

They are started as production starts them in tests/system/test_make_run.py and test_container.py.
"""

import multiprocessing
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from subprocess import TimeoutExpired

from tests.databases import CHECKOUT

CELERY = "from celery.__main__ import main; main()"
MANAGE = "import manage; manage.main()"

# What knows the settings, or asks for them when it is imported, each process imports by itself.
_LIBRARIES = [
    "babel.dates", "babel.numbers", "celery.app.amqp", "celery.bin.celery", "celery.worker.worker",
    "cryptography.hazmat.primitives.asymmetric.ed25519", "cryptography.hazmat.primitives.ciphers.aead",
    "dateutil.parser", "django.contrib.staticfiles.finders", "django.core.handlers.wsgi", "django.core.mail",
    "django.core.management", "django.db.backends.postgresql.base", "django.db.backends.sqlite3.base",
    "django.db.models.functions", "django.forms", "django.template.loader_tags", "django.test", "django.views.debug",
    "environ", "granian.cli", "granian.server", "holidays.countries", "inflection", "kombu.transport.redis",
    "psycopg_pool", "pydantic.json_schema", "pyotp", "pyphen", "redis", "requests", "rich.traceback", "segno",
    "structlog", "tomllib", "uritemplate", "urllib3", "whitenoise.base",
]  # fmt: skip
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(_LIBRARIES)


class Fork:
    """A running process that leads a group, as `subprocess.Popen` has it.

    Args:
        program: Python, with `arguments` in `sys.argv`.
        environment: all that it knows.
        output, errors: the files to whose end it writes; errors go to the same one unless another is given.
        input: the file that it reads; else nothing.
    """

    def __init__(
        self,
        program: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        output: Path,
        errors: Path | None = None,
        input: Path | None = None,
    ) -> None:
        files = (str(input or os.devnull), str(output), str(errors or output))
        everything = (program, list(arguments), dict(environment), *files)
        self._process = _context.Process(target=_run, args=everything)
        self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        """Its exit code, once it has ended."""
        return self._process.exitcode

    def wait(self, seconds: float | None = None) -> int:
        """Raises subprocess.TimeoutExpired."""
        self._process.join(seconds)
        code = self._process.exitcode
        if code is None:
            raise TimeoutExpired(str(self.pid), seconds or 0)
        return code

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        """End its whole group at once, as a power cut would."""
        with suppress(ProcessLookupError):  # it had ended by itself
            os.killpg(self.pid, signal.SIGKILL)
        self.wait()


def _run(program: str, arguments: list[str], environment: dict[str, str], input: str, *outputs: str) -> None:
    multiprocessing.set_start_method("fork", force=True)  # as it is in a process that was not forked this way
    os.setsid()
    os.environ.clear()
    # The latter is what `config.celery` sets when it is imported, which the program that started us may have done.
    os.environ.update({"DJANGO_SETTINGS_MODULE": "config.settings", **environment})
    os.chdir(CHECKOUT)
    os.dup2(os.open(input, os.O_RDONLY), 0)
    sys.stdin = os.fdopen(0)  # which a process that was forked this way begins without
    for descriptor, path in enumerate(outputs, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT), descriptor)
    sys.argv = ["program", *arguments]
    exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})
