"""Logs for people and machines: one JSON object a line, with the id of the request, without private text.

Messages of exceptions and parameters of SQL statements may quote a record, so neither is ever written: a fault is
logged as its types and the places in our code it passed through.
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
# linear: it reads the file names of frames, which the file system bounds
_BEFORE_NAME = re.compile(rf".*/site-packages/|{_ROOT}/|.*/lib/python[\d.]+/")


def without_private_text(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Replace exception information by the types and places of the exception and its causes."""
    info = event.pop("exc_info", None)
    kind, error = None, sys.exception() if info is True else info
    if isinstance(info, tuple):
        kind, error, _ = info
    if isinstance(error, BaseException):
        event["exception"] = _describe(error)
        # Celery wraps an exception that cannot be pickled, and names its type beside it.
        event["exception"][0]["type"] = (kind or type(error)).__qualname__
    event.pop("stack_info", None)
    return event


def _describe(error: BaseException) -> list[dict[str, Any]]:
    """Return types and places: of the exception, of its causes, and of the members of groups among them."""
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
    """Return the frames of our own code and the innermost frame; of very many, the last."""
    places = [(frame.f_code, line) for frame, line in traceback.walk_tb(passed)]
    ours = [(code, line) for code, line in places[:-1] if _OURS.match(code.co_filename)]
    return [
        f"{_BEFORE_NAME.sub('', code.co_filename)}:{line} {code.co_qualname}"
        for code, line in [*ours, *places[-1:]][-_MAX_FRAMES:]
    ]


def _exception_as_text(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """For people: the renderer for consoles takes an exception as text alone."""
    if "exception" in event:
        event["exception"] = "\n".join(
            "\n  ".join([described["type"], *described["frames"]]) for described in event["exception"]
        )
    return event


class _Lines:
    """Standard error, line by line. A log that cannot be written, for a full disk or a dead collector, must not fail
    the request that it describes."""

    def msg(self, message: str) -> None:
        with suppress(OSError, ValueError):  # ValueError: the stream is closed
            sys.stderr.write(f"{message}\n")

    debug = info = warning = error = critical = msg


class LibraryLines(logging.Handler):
    """Lines of libraries: the template of each message without its arguments, which are where the values are."""

    def emit(self, record: logging.LogRecord) -> None:
        line = copy(record)
        line.args = None
        if isinstance(record.msg, BaseException):
            line.exc_info = line.exc_info or (type(record.msg), record.msg, record.msg.__traceback__)
        if not isinstance(record.msg, str):
            line.msg = type(record.msg).__qualname__
        elif record.name == "asyncio":  # fills in its messages itself, with the repr of what failed
            line.msg = "event loop"
        _Lines().msg(self.format(line))


def report_failed_threads() -> None:
    """Log what ends a thread or fails in a finalizer, which Python prints with its message and values."""
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
                # Statements with their parameters, and 4xx answers that the request log already tells of.
                "django.db.backends": {"level": "INFO"},
                "django.request": {"level": "CRITICAL"},
                "django.security": {"level": "CRITICAL"},
                # Every request to Azure, with names of accounts and containers.
                "azure.core.pipeline.policies.http_logging_policy": {"level": "WARNING"},
                # Every step of every PDF, each CSS property it does not know, each character without a glyph.
                "weasyprint": {"level": "ERROR"},
                # The address of every request.
                "azure": {"level": "WARNING"},
            },
        }
    )
    report_failed_threads()
