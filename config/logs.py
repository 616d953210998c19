"""Logs for people and machines: one JSON object a line, with the request's id and without private text.

Messages of exceptions and parameters of SQL statements may quote a record, so neither is logged. An exception is logged
as the types and stack frames of it and its causes.
"""

import logging
import logging.config
import re
import sys
import threading
import traceback
from collections import deque
from contextlib import suppress
from copy import copy
from pathlib import Path
from types import TracebackType
from typing import Any

import structlog
from structlog.typing import EventDict, WrappedLogger

_MAX_EXCEPTIONS = 20
_MAX_FRAMES = 30  # a recursion has a thousand
_ROOT = re.escape(str(Path(__file__).resolve().parent.parent))
_OURS = re.compile(rf"{_ROOT}/(?!.*/site-packages/)")
# linear: it reads file names of frames, whose length the file system limits
_BEFORE_NAME = re.compile(rf".*/site-packages/|{_ROOT}/|.*/lib/python[\d.]+/")


def without_private_text(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Replace exception information with the types and stack frames of the exception and its causes."""
    info = event.pop("exc_info", None)
    kind, error = None, sys.exception() if info is True else info
    if isinstance(info, tuple):
        kind, error, _ = info
    if isinstance(error, BaseException):
        event["exception"] = _describe(error)
        # Celery wraps an exception that cannot be pickled, and passes its type separately.
        event["exception"][0]["type"] = (kind or type(error)).__qualname__
    event.pop("stack_info", None)
    return event


def _describe(error: BaseException) -> list[dict[str, Any]]:
    """Return types and stack frames of the exception, its causes, and the members of groups among them."""
    described: list[dict[str, Any]] = []
    waiting, seen = deque([error]), {id(error)}
    while waiting and len(described) < _MAX_EXCEPTIONS:
        error = waiting.popleft()
        described.append({"type": type(error).__qualname__, "frames": _places(error.__traceback__)})
        members = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
        for related in (error.__cause__ or error.__context__, *members):
            if related is not None and id(related) not in seen:  # causes can form a ring
                seen.add(id(related))
                waiting.append(related)
    return described


def _places(passed: TracebackType | None) -> list[str]:
    """Return the frames of our own code and the innermost frame, the last `_MAX_FRAMES` at most."""
    places = [(frame.f_code, line) for frame, line in traceback.walk_tb(passed)]
    ours = [(code, line) for code, line in places[:-1] if _OURS.match(code.co_filename)]
    return [
        f"{_BEFORE_NAME.sub('', code.co_filename)}:{line} {code.co_qualname}"
        for code, line in [*ours, *places[-1:]][-_MAX_FRAMES:]
    ]


def _exception_as_text(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Convert the exception to text, which the console renderer needs."""
    if "exception" in event:
        event["exception"] = "\n".join(
            "\n  ".join([described["type"], *described["frames"]]) for described in event["exception"]
        )
    return event


class _Lines:
    """Standard error, line by line. A full disk or a dead log collector must not fail the logged request."""

    def msg(self, message: str) -> None:
        with suppress(OSError, ValueError):  # ValueError: the stream is closed
            sys.stderr.write(f"{message}\n")

    debug = info = warning = error = critical = msg


class LibraryLines(logging.Handler):
    """A handler for libraries that logs each message's template without its arguments, which hold the values."""

    def emit(self, record: logging.LogRecord) -> None:
        line = copy(record)
        line.args = None
        if isinstance(record.msg, BaseException):
            line.exc_info = line.exc_info or (type(record.msg), record.msg, record.msg.__traceback__)
        if not isinstance(record.msg, str):
            line.msg = type(record.msg).__qualname__
        elif record.name == "asyncio":  # its messages already contain the repr of the failed object
            line.msg = "event loop"
        _Lines().msg(self.format(line))


def report_failed_threads() -> None:
    """Log exceptions of threads and finalizers, which Python would print with their messages and values."""
    log = structlog.get_logger("threads")

    def in_thread(failed: threading.ExceptHookArgs) -> None:
        if failed.exc_type is not SystemExit:
            log.error("thread failed", exc_info=failed.exc_value)

    threading.excepthook = in_thread
    sys.unraisablehook = lambda failed: log.error("finalizer failed", exc_info=failed.exc_value)


def configure(*, level: str, as_json: bool) -> None:
    """Set up structlog and route the logging of libraries through it."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        without_private_text,
    ]
    renderer: Any = structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer()
    if not as_json:
        shared.append(_exception_as_text)
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *_: _Lines(),
        cache_logger_on_first_use=True,
    )
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": {
                "structured": {
                    "()": structlog.stdlib.ProcessorFormatter,
                    "foreign_pre_chain": [structlog.stdlib.add_logger_name, *shared],
                    "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
                }
            },
            "handlers": {"stderr": {"()": LibraryLines, "formatter": "structured"}},
            "root": {"handlers": ["stderr"], "level": level},
            "loggers": {
                # Statements with their parameters, and 4xx answers that the request log already has.
                "django.db.backends": {"level": "INFO"},
                "django.request": {"level": "CRITICAL"},
                "django.security": {"level": "CRITICAL"},
                # Every request to Azure, with names of accounts and containers.
                "azure.core.pipeline.policies.http_logging_policy": {"level": "WARNING"},
                # Every step of every PDF, each unknown CSS property, each character without a glyph.
                "weasyprint": {"level": "ERROR"},
                # The address of every request.
                "azure": {"level": "WARNING"},
            },
        }
    )
    report_failed_threads()
