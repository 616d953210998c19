"""Failed polls: their cause, their fix, and when to retry."""

import errno
from dataclasses import dataclass
from datetime import timedelta

from config import retries
from connectors.kinds.base import SourceFault

MAX_SOURCE_PAUSE = timedelta(days=1)
"""The longest wait that a source may ask for."""
_MAX_CONFIG_FAILURES = 3
"""A connector stops after so many consecutive failures that only a change of settings can fix."""


@dataclass(frozen=True, slots=True)
class Failure:
    cause: str
    detail: str
    fix: str = ""
    retry_after: int | None = None
    stops: bool = False


OF_BACKLOG = Failure(
    "",
    "Polls pause: too many records of this organization wait for their signature or storage.",
    "No action needed; polls go on once fewer wait. If that takes long, check the organization's key and storage.",
)
OF_OURS = Failure("system", "The service failed while it read this source.", "See the service log for details.")


def of_storage(sentence: str) -> Failure:
    """Return a failure of storage or of the organization's keys, with the sentence of custody."""
    detail = f"The service could not store records. {sentence}".strip()
    return Failure("system", detail, "No action needed; it will be retried. If it lasts, look at custody.")


_MACHINE_ERRORS = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT, errno.EROFS}


def of_machine(sentence: str) -> Failure:
    """Return a failure of the machine that polls. Another machine may succeed."""
    detail = f"The machine that polled cannot read this source. {sentence}"
    return Failure("system", detail, "Ask the operator of this service to look at /readyz and the log of that machine.")


def is_of_machine(error: Exception) -> bool:
    """Whether an unexpected error says that this machine lacks something that other machines may have."""
    return isinstance(error, ImportError | MemoryError) or (
        isinstance(error, OSError) and error.errno in _MACHINE_ERRORS
    )


def of_source(fault: SourceFault) -> Failure:
    return Failure(fault.cause, fault.sentence, fault.fix, fault.retry_after)


def stopping(detail: str, fix: str) -> Failure:
    return Failure("config", detail, fix, stops=True)


def stops(failure: Failure, failed: int) -> bool:
    return failure.stops or (failure.cause == "config" and failed >= _MAX_CONFIG_FAILURES)


def pause(failure: Failure, failed: int) -> timedelta:
    """Return how long to wait: longer after each failure, and at least as long as the source asks for."""
    return max(retries.pause(failed), min(timedelta(seconds=failure.retry_after or 0), MAX_SOURCE_PAUSE))
