"""One line a request, with an id that the answer repeats.

The line names the route, not the path: a path can hold a decision's identifier.
"""

import re
import time
import uuid
from contextvars import ContextVar
from typing import Any

import structlog

log = structlog.get_logger("request")

is_answering: ContextVar[bool] = ContextVar("is_answering", default=False)
"""Whether this thread answers a request, whose client waits and whose thread others need."""
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")


def request_id(offered: str) -> str:
    """The id that a client gave its request, if it is one; else a new one."""
    return offered if _REQUEST_ID.fullmatch(offered) else uuid.uuid4().hex


def write(*, request_id: str, method: str | None, route: str | None, status: int, begun: float, **more: Any) -> None:
    """Write the line of a request.

    Args:
        begun: when, by `time.perf_counter`.
        more: what else the line says.
    """
    said = {"method": method, "route": route, "status": status, **more}
    log.info("request", request_id=request_id, **said, milliseconds=round((time.perf_counter() - begun) * 1000, 2))
