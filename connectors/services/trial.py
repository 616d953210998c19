"""Trying a source out: what a poll does, on one item, in ten seconds, and nothing of it is kept."""

import fcntl
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TextIO

import structlog
from django.conf import settings as service
from django.core.cache import cache
from redis.exceptions import RedisError

from accounts.authority import requires
from accounts.callers import Caller
from accounts.roles import Permission
from config import secret_references
from connectors import kinds, sources
from connectors.errors import TestsBusy
from connectors.formats import Item
from connectors.kinds.base import KindConfig, Source, SourceFault, Step
from connectors.maps import FieldMap

log = structlog.get_logger("connectors")

SECONDS = 10
_AT_ONCE = 2
_slots = threading.BoundedSemaphore(_AT_ONCE)
_threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="connector-test")


@dataclass(frozen=True, slots=True)
class Tested:
    """What a test found: every step in words, and whether records would come."""

    steps: list[Step]

    @property
    def ok(self) -> bool:
        return all(step.ok for step in self.steps)


@requires(Permission.MANAGE_CONNECTORS)
def try_source(*, caller: Caller, kind: str, config: dict[str, Any], secret_ref: str = "") -> Tested:
    """Try a source: check its settings, and read one item as a poll would.

    Raises:
        ReferenceRefused
        TestsBusy: two tests run in this process, or one of this organization.
    """
    if secret_ref:
        secret_references.require_allowed(secret_ref)
    checked = sources.check(kind, config, secret_ref)
    if checked.settings is None:
        fix = "Correct these settings."
        return Tested([Step("configuration", False, problem, fix) for problem in checked.problems])
    source = sources.open_source(
        checked.settings,
        secret_ref=secret_ref,
        organization_id=caller.organization_id,
        seconds=0.9 * SECONDS,  # so that the step that takes too long is the one that says so
        batch_items=1,
    )
    done = Step("configuration", True, "The settings are complete.")
    return Tested([done, *_in_time(source, kind, checked.settings)])


def _in_time(source: Source[Any], kind: str, settings: KindConfig) -> list[Step]:
    """The steps of reading. A library that does not come back keeps its thread, and with it the slot."""
    release = _slot(source.organization_id)
    attempt: Future[Step] = _threads.submit(_sample, source, kind, settings)
    attempt.add_done_callback(lambda _: release())
    try:
        last = attempt.result(timeout=SECONDS)
    except TooLate:
        last = Step("time", False, f"The source took longer than {SECONDS} seconds.", "Check that it answers.")
    steps = list(source.steps)
    return steps if any(not step.ok for step in steps) else [*steps, last]


def _slot(organization_id: uuid.UUID) -> Callable[[], None]:
    """Take one of the process's slots, and the organization's only one. Returns what gives them back.

    Raises:
        TestsBusy
    """
    key, token = f"connector-test-{organization_id}", uuid.uuid4().hex
    if not _slots.acquire(blocking=False):
        raise TestsBusy
    lock = _lock(key)
    if lock is None or not _is_free_elsewhere(key, token):
        if lock:
            lock.close()
        _slots.release()
        raise TestsBusy

    def release() -> None:
        with suppress(RedisError):
            if cache.get(key) == token:  # else it took so long that another test has begun
                cache.delete(key)
        lock.close()
        _slots.release()

    return release


def _lock(name: str) -> TextIO | None:
    """A lock that the processes of this machine share, until it is closed; None if another holds it."""
    folder = service.DATA_DIR / "locks"
    folder.mkdir(mode=0o700, exist_ok=True)
    file = (folder / name).open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def _is_free_elsewhere(key: str, token: str) -> bool:
    """Whether no other machine tests for the organization. While Redis is away, machines do not know of each other."""
    try:
        return bool(cache.add(key, token, SECONDS + 5))
    except RedisError as error:
        log.warning("tests of connectors are not counted together", exc_info=error)
        return True


def _sample(source: Source[Any], kind: str, settings: KindConfig) -> Step:
    """Read one item and say what it is. Runs in a thread of its own, without the database."""
    try:
        for batch in kinds.kind(kind).read(source, {}):
            for item in batch.items:
                return _judged(item, sources.field_map(settings))
    except SourceFault as fault:
        return Step("reading", False, fault.sentence, fault.fix)
    except Exception as error:
        log.error("a connector test failed", kind=kind, exc_info=error)
        return Step("reading", False, "The service failed at this.", "See the service log for details.")
    return Step("sample", True, "The source is empty: there was nothing to read.")


def _judged(item: Item, field_map: FieldMap | None) -> Step:
    problem, identity = sources.judge(item.raw, field_map)
    problem = item.problem or problem
    if problem:
        return Step("sample", False, f"{item.position}: {problem}", "Choose another format, or a map to decision_id.")
    return Step("sample", True, f"{item.position} is a record; its decision_id is {identity}.")
