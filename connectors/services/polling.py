"""Polls: a worker claims a due connector, reads its source for a while, and releases it.

Each batch is in custody before the cursor moves past it. The cursor moves in one UPDATE with the conditions that the
lease's token and the settings' version are unchanged. So a crash costs a lease but no record, and an overtaken worker
changes nothing.
"""

import json
import time
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import structlog
from django.db import DatabaseError, transaction
from django.db.models import Case, F, QuerySet, Value, When
from django.utils import timezone

from config import leases
from config.errors import DomainError, Fault
from config.wrapped_secrets import MasterKeyWrong
from connectors import failures, kinds, ledger_names, schedule, sources
from connectors.kinds.base import Batch, Cursor, MachineFault, SourceFault
from connectors.models import Alert, Connector, PollRun
from connectors.services import claims, ledger, quarantine, unserved
from connectors.services.alerts import alert
from connectors.services.intake import CustodyFull, Intake, take
from connectors.texts import storable
from custody import vaults
from custody.selectors import queue_is_full

log = structlog.get_logger("connectors")

MAX_POLL_SECONDS = 200
MAX_QUARANTINED = 1000
_MAX_CURSOR = 8192  # characters; each quarantined item stores the cursor before it
_MIN_POLL_SECONDS = 30
"""A worker with less time left begins no poll, because a poll cut short looks like a fault of the source."""
_PAGE_SECONDS = 10
"""A worker releases the connectors of its page that it has not begun to poll by then."""
SLICE_SECONDS = 30
"""A poll ends after this time while another connector waits for a worker."""
_LOOK_SECONDS = 5
"""Time between two checks for a waiting connector."""
_BACKLOG_PAUSE = timedelta(seconds=30)
_QUARANTINE_FULL = "1,000 items wait in quarantine, which is the limit."
_MAX_IDLE_POLLS = 10
"""In a row, without an end of the source and without anything new; after them polls follow the schedule again."""
_MAX_RUNS = 100
"""Runs kept of a connector."""
_RUN_FIELDS = ("finished_at", "outcome", "seen", "new", "repeated", "quarantined", "cause", "detail", "fix")
_EMPTY_QUARANTINE = "Fix the source or the field map and retry the items, or dismiss them. Then poll again."


class Overtaken(DomainError):
    """The connector was changed or deleted, or its lease ran out, so this poll may write nothing more."""

    code = "overtaken"
    sentence = "The connector was changed while it was polled."


def poll_due(seconds: float = MAX_POLL_SECONDS) -> int:
    """Poll due connectors until none is left or the time is over. Return how many were polled."""
    ends, polled = time.monotonic() + seconds, 0
    while time.monotonic() < ends - _MIN_POLL_SECONDS and (page := claims.claim()):
        page_ends = min(time.monotonic() + _PAGE_SECONDS, ends - _MIN_POLL_SECONDS)
        for number, connector in enumerate(page):
            if number and time.monotonic() >= page_ends:
                claims.release(connector)
            else:
                poll(connector, ends - time.monotonic())
                polled += 1
    return polled


def poll(connector: Connector, seconds: float) -> PollRun | None:
    """Poll a connector whose lease the caller holds, for so many seconds, and release it.

    Returns:
        The run, or None if the connector was changed or deleted before the poll began.
    """
    polling = _Polling(connector)
    try:
        run = polling.begin()
    except Overtaken:
        claims.release(connector)
        return None
    try:
        polling.read(seconds)
    except Overtaken:
        polling.give_up()
    except MachineFault as fault:
        polling.leave(failures.of_source(fault))
    except MasterKeyWrong as error:
        polling.leave(failures.of_machine(error.sentence))
    except SourceFault as fault:
        polling.fail(failures.of_source(fault))
    except (Fault, DatabaseError) as error:
        log.warning("a poll waits for storage", connector=str(connector.source_id), exc_info=error)
        failure = failures.of_storage(error.sentence if isinstance(error, Fault) else "")
        polling.fail(failure) if _can_store() else polling.leave(failure)
    except Exception as error:
        log.error("a poll failed", connector=str(connector.source_id), exc_info=error)
        if failures.is_of_machine(error):
            polling.leave(failures.of_machine("It lacks a library, memory, disk space or file descriptors."))
        else:
            polling.fail(failures.OF_OURS)
    else:
        unserved.serve(connector)
    return run


class _Polling:
    """One poll of one connector."""

    def __init__(self, connector: Connector) -> None:
        self.connector = connector
        self.run = PollRun(connector=connector, started_at=timezone.now())
        self.has_moved = False
        """Whether the cursor moved or items were read."""
        self.ends = self.next_look = 0.0

    def begin(self) -> PollRun:
        """Record the start of the run. Raises Overtaken."""
        claims.take_turn(self.connector)
        with transaction.atomic():
            self._change(lease_until=self.run.started_at + claims.LEASE)
            self.run.save()
        return self.run

    def read(self, seconds: float) -> None:
        """Read the source to its end or until the time is over. Raises SourceFault, CustodyWaits, Overtaken."""
        began = time.monotonic()
        self.ends, self.next_look = began + seconds, began + SLICE_SECONDS
        try:
            is_full = self._read(seconds)
        except CustodyFull:
            self._describe(failures.OF_BACKLOG)
            self._finish(PollRun.Outcome.WAITING, next_poll_at=timezone.now() + _BACKLOG_PAUSE)
            return
        except SourceFault:
            # A request cut off by the deadline is no fault of the source if other requests succeeded.
            if time.monotonic() < self.ends or not self.has_moved:
                raise
            is_full = False
        if is_full:
            self.fail(failures.stopping(_QUARANTINE_FULL, _EMPTY_QUARANTINE))
        elif time.monotonic() >= self.ends:  # a kind may also end by itself at the deadline
            self._finish(PollRun.Outcome.MORE, next_poll_at=self._continues_at())
        else:
            later = schedule.next_slot(self.connector)
            self._finish(PollRun.Outcome.FINISHED, next_poll_at=later, caught_up_at=self.run.started_at)

    def _continues_at(self) -> datetime:
        """Return when to continue an unfinished pass: at once, or at the next slot if polls find nothing new.

        Otherwise a source with endless pages would be polled forever without a pause.
        """
        earlier = self._runs().exclude(pk=self.run.pk).order_by("-pk")[:_MAX_IDLE_POLLS]
        is_idle = [run.outcome == PollRun.Outcome.MORE and not (run.new or run.quarantined) for run in earlier]
        has_news = self.run.new or self.run.quarantined or len(is_idle) < _MAX_IDLE_POLLS or not all(is_idle)
        return timezone.now() if has_news else schedule.next_slot(self.connector)

    def _read(self, seconds: float) -> bool:
        """Read batches into custody. Return whether the quarantine is full."""
        connector = self.connector
        self._require_room()
        if self._quarantine_is_full():  # for example if it was polled again before the quarantine was emptied
            return True
        checked = sources.check(connector.kind, connector.config, connector.secret_ref)
        if checked.settings is None:  # a connector with problems is not due, so this machine's settings differ
            raise MachineFault(" ".join(checked.problems), fix="Give this machine the settings that the others have.")
        source = sources.open_source(
            checked.settings,
            secret_ref=connector.secret_ref,
            organization_id=connector.organization_id,
            seconds=seconds,
            unread=ledger.reader(connector),
            known=ledger.finder(connector),
            digest=partial(ledger_names.digest, connector.organization_id),
            was_read=connector.caught_up_at is not None,
        )
        field_map = sources.field_map(checked.settings)
        for batch in kinds.kind(connector.kind).read(source, connector.cursor):
            self._keep(batch, take(connector, batch.items, field_map))
            if self.run.quarantined and self._quarantine_is_full():
                return True
            self._require_room()
            self._give_way()
            if time.monotonic() >= self.ends:
                break
        return False

    def _require_room(self) -> None:
        """Raise CustodyFull if too many records of the organization wait for custody."""
        if queue_is_full(self.connector.organization_id):
            raise CustodyFull

    def _give_way(self) -> None:
        """End a poll that has had its slice while another connector waits for a worker."""
        now = time.monotonic()
        if now >= self.next_look:
            self.next_look = now + _LOOK_SECONDS
            if claims.others_wait(self.connector):
                self.ends = now

    def give_up(self) -> None:
        """Release a connector that was changed or that another worker took over."""
        with transaction.atomic():
            claims.release(self.connector)
            self._end(PollRun.Outcome.OVERTAKEN)

    def leave(self, failure: failures.Failure) -> None:
        """Release a connector that another machine may be able to read. It stays due, and no failure is counted."""
        unserved.leave(self.connector)
        self._describe(failure)
        try:
            with transaction.atomic():
                claims.release(self.connector)
                self._end(PollRun.Outcome.FAILED)
        except DatabaseError as error:
            log.warning("a poll could not be ended; its lease runs out", exc_info=error)

    def fail(self, failure: failures.Failure) -> None:
        """Release the connector until later, or stop it after too many failures."""
        failed = self.connector.failures + 1
        self._describe(failure)
        try:
            with transaction.atomic():
                if failures.stops(failure, failed):
                    self._stop(f"{failure.detail} {failure.fix}", failed)
                else:
                    later = timezone.now() + failures.pause(failure, failed)
                    self._change(next_poll_at=self._unless_asked(later), failures=failed, **leases.RELEASED)
                self._end(PollRun.Outcome.FAILED)
        except Overtaken:
            self.give_up()
        except DatabaseError as error:
            log.warning("a poll could not be ended; its lease runs out", exc_info=error)

    def _describe(self, failure: failures.Failure) -> None:
        self.run.cause = failure.cause
        self.run.detail, self.run.fix = failure.detail[:1000], failure.fix[:1000]

    def _stop(self, because: str, failed: int) -> None:
        stopped = {"stopped_at": timezone.now(), "stopped_because": because[:1000]}
        self._change(next_poll_at=None, failures=failed, **stopped, **leases.RELEASED)
        alert(self.connector, Alert.Event.STOPPED)

    def _finish(self, outcome: PollRun.Outcome, *, next_poll_at: Any, **changes: Any) -> None:
        with transaction.atomic():
            self._change(next_poll_at=self._unless_asked(next_poll_at), failures=0, **changes, **leases.RELEASED)
            self._end(outcome)

    def _end(self, outcome: PollRun.Outcome) -> None:
        """Record how the run ended, in the transaction that releases the connector. The run may be deleted by then."""
        run = self.run
        run.outcome, run.finished_at = outcome, timezone.now()
        runs = self._runs()
        runs.filter(pk=run.pk).update(**{name: getattr(run, name) for name in _RUN_FIELDS})
        if run.pk % 20 == 0:  # clean up only now and then
            newest = list(runs.order_by("-pk").values_list("pk", flat=True)[:_MAX_RUNS])
            runs.filter(pk__lt=newest[-1] if newest else 0).delete()
            if outcome == PollRun.Outcome.FINISHED:
                ledger.forget_gone(self.connector)

    def _runs(self) -> QuerySet[PollRun]:
        return PollRun.objects.for_organization(self.connector.organization_id).filter(connector=self.connector)

    def _keep(self, batch: Batch, intake: Intake) -> None:
        """Record a batch that is in custody: cursor, ledger, quarantine and counts."""
        now = timezone.now()
        with transaction.atomic():
            cursor, before = _storable(batch.cursor), self.connector.cursor
            fresh = quarantine.note(self.connector, batch, intake, before)
            newest = _newest(now, batch.behind_seconds)
            self._change(
                cursor=cursor,
                lease_until=now + claims.LEASE,
                seen=F("seen") + intake.seen,
                new=F("new") + intake.new,
                repeated=F("repeated") + intake.repeated,
                quarantined=F("quarantined") + fresh,
                **newest,
                **(schedule.heard(self.connector, now) if intake.new else {}),
            )
            ledger.write(self.connector, batch.ledger)
            if fresh:
                alert(self.connector, Alert.Event.QUARANTINE)
        self.has_moved |= bool(batch.items or cursor != before)
        self.connector.cursor = cursor
        self.run.seen += intake.seen
        self.run.new += intake.new
        self.run.repeated += intake.repeated
        self.run.quarantined += fresh

    def _change(self, **columns: Any) -> None:
        """Change the connector if its lease and version are unchanged. Raises Overtaken."""
        rows = Connector.objects.for_organization(self.connector.organization_id)
        ours = rows.filter(pk=self.connector.pk, lease_token=self.connector.lease_token, version=self.connector.version)
        if not ours.update(**columns):
            raise Overtaken

    def _unless_asked(self, later: Any) -> Any:
        """Return the time of the next poll. A poll requested in the meantime stays due."""
        return Case(When(next_poll_at=self.connector.next_poll_at, then=Value(later)), default=F("next_poll_at"))

    def _quarantine_is_full(self) -> bool:
        return self.connector.quarantine.values("pk")[:MAX_QUARANTINED].count() >= MAX_QUARANTINED


def _can_store() -> bool:
    """Whether this machine reaches the database and the deployment's vault, whose mount it may lack."""
    try:
        vaults.probe()
    except (Fault, DatabaseError):
        return False
    return True


def _newest(now: datetime, behind_seconds: float | None) -> dict[str, datetime]:
    """Return the column for the age of the newest item. Some sources say 0001-01-01 for an unknown time."""
    if behind_seconds is None or behind_seconds > now.timestamp():
        return {}
    return {"newest_item_at": now - timedelta(seconds=behind_seconds)}


def _storable(cursor: Cursor) -> dict[str, Any]:
    """Return the cursor for storage. Raises SourceFault: it is too long, or not storable."""
    text = json.dumps(cursor, ensure_ascii=False)
    if len(text) <= _MAX_CURSOR and storable(text) == text and "\\u0000" not in text:
        return dict(cursor)
    raise SourceFault(
        "The page token or link to continue with cannot be stored: it is longer than 8 kB, or holds half a character.",
        fix="Ask the source's operator for shorter page tokens or links, in plain text.",
    )
