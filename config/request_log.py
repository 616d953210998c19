"""The request log: one line a request, with an id that is also in the answer.

The line has the route instead of the path, because a path can contain a decision's identifier.
"""

import re
import time
import uuid
from contextvars import ContextVar
from typing import Any

import structlog

log = structlog.get_logger("request")

is_answering: ContextVar[bool] = ContextVar("is_answering", default=False)
"""Whether this thread is answering a request, so that its work must be short."""
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")


def request_id(offered: str) -> str:
    """Return the client's id for its request if it is valid, else a new one."""
    return offered if _REQUEST_ID.fullmatch(offered) else uuid.uuid4().hex


def write(*, request_id: str, method: str | None, route: str | None, status: int, begun: float, **more: Any) -> None:
    """Write the line of a request.

    Args:
        begun: start of the request, by `time.perf_counter`.
        more: further members of the line.
    """
    fields = {"method": method, "route": route, "status": status, **more}
    log.info("request", request_id=request_id, **fields, milliseconds=round((time.perf_counter() - begun) * 1000, 2))
