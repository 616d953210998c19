"""Logs for people and machines: one JSON object a line, with the id of the request, without private text.

Messages of exceptions and parameters of SQL statements may quote a record, so neither is ever written: a fault is
logged as its types and the places in our code it passed through.
"""

import logging
import logging.config
import sys
import traceback
from contextlib import suppress
from typing import Any

import structlog
from structlog.typing import EventDict, WrappedLogger


def without_private_text(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Replace exception information by the types and frames of the exception and its causes."""
    info = event.pop("exc_info", None)
    if info:
        error = info if isinstance(info, BaseException) else (info[1] if isinstance(info, tuple) else sys.exception())
        event["exception"] = _describe(error)
    event.pop("stack_info", None)
    return event


def _describe(error: BaseException | None) -> list[dict[str, Any]]:
    chain = []
    while error is not None:
        frames = traceback.extract_tb(error.__traceback__)
        chain.append(
            {
                "type": type(error).__qualname__,
                "frames": [f"{f.filename}:{f.lineno} {f.name}" for f in frames],
            }
        )
        error = error.__cause__ or error.__context__
    return chain


def _exception_as_text(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """For people: the renderer for consoles takes an exception as text alone."""
    if "exception" in event:
        event["exception"] = "\n".join("\n  ".join([each["type"], *each["frames"]]) for each in event["exception"])
    return event


def _foreign_message(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    """Keep a library's message template and drop its arguments, which are where the values are."""
    record: logging.LogRecord = event["_record"]
    event["event"] = str(record.msg)
    return event


class _Lines:
    """Writes lines to standard error. A log that cannot be written, for a full disk or a dead collector, must not fail
    the request it tells of."""

    def msg(self, message: str) -> None:
        with suppress(OSError, ValueError):  # ValueError: the stream is closed
            sys.stderr.write(f"{message}\n")

    debug = info = warning = error = critical = msg


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
                    "foreign_pre_chain": [_foreign_message, structlog.stdlib.add_logger_name, *shared],
                    "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
                }
            },
            "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "structured"}},
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
