"""Two clocks at once: each requests every task, and nothing is done twice."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.config.test_periodic import TASKS
from tests.system.live import Server, server, wait_until
from tests.system.test_leases import RECORD, a_code_waits, a_letter_waits, mails, stopped_at_work
from tests.threads import HANGS_SECONDS

# A worker with a clock, like `celery -A config worker -B`, but faster. It notes requested and finished tasks.
pytestmark = pytest.mark.once
CLOCK_AND_WORKER = """
import sys
from celery.signals import before_task_publish, task_postrun
from config.celery import app
app.loader.init_worker()
app.finalize()
for entry in app.conf.beat_schedule.values():
    entry["schedule"] = 6
    entry["options"]["expires"] = 60  # on a busy machine the workers are late, but run every task
def note(what):
    with open(sys.argv[1], "a") as notes:  # reopened each time: the clock is another process
        notes.write(what + "\\n")
def asked(sender, **_):
    note("asked for " + sender)
def done(sender, **_):
    note("did " + sender.name)
before_task_publish.connect(asked)
task_postrun.connect(done)
app.Worker(beat=True, pool="threads", concurrency=2, schedule_filename=sys.argv[1] + ".schedule").start()
"""


@contextmanager
def two_clocks(live: Server) -> Iterator[list[Path]]:
    """Run two clocks, each with a worker, and yield the files with their notes."""
    notes = [live.directory / f"clock-{number}" for number in (1, 2)]
    running = [live.fork(CLOCK_AND_WORKER, [str(file)], live.directory / "clocks.log") for file in notes]
    try:
        yield notes
    finally:
        for fork in running:
            fork.terminate()
        for fork in running:
            fork.wait(HANGS_SECONDS)


def noted(*files: Path) -> Counter[str]:
    return Counter(line for file in files if file.exists() for line in file.read_text().splitlines())


def everything_waits(live: Server) -> None:
    """Queue a letter, an unsealed notice, a late draft, a record without a vault object, and a code."""
    a_letter_waits(live)
    with live.client() as client:
        drafts = [client.request("POST", "/v1/decisions/loan-1/notices", b'{"pack": "general"}') for _ in range(2)]
        stopped_at_work(live, f"/v1/notices/{drafts[0].json()['notice_id']}/approve").kill()
        vault, away = live.data_dir / "vault", live.data_dir / "away"
        vault.rename(away)
        assert client.ingest(RECORD.replace(b"loan-1", b"loan-2")).status == 503
        away.rename(vault)
    assert len(live.sql("SELECT 1 FROM notices_approval")) == 2
    assert len(live.sql("SELECT 1 FROM notices_sealednotice")) == 1
    for table in ("custody_waitingobject", "notices_approval"):
        live.sql(f"UPDATE {table} SET lease_until = '2000-01-01 00:00:00+00:00'")
    live.sql("UPDATE notices_notice SET due_at = '2026-01-01 00:00:00+00:00' WHERE state = 'draft'")
    a_code_waits(live)


def sent(live: Server) -> list[str]:
    """Return the subjects of all mails."""
    return sorted(re.findall(r"^Subject: (.*)$", "\n".join(mails(live)), re.MULTILINE))


def is_done(live: Server) -> bool:
    waiting = live.sql("SELECT 1 FROM custody_waitingobject")
    return not waiting and len(sent(live)) >= 3 and len(live.sql("SELECT 1 FROM notices_sealednotice")) == 2


def test_a_task_that_two_clocks_request_is_done_once():
    with server(CUSTODY_VAULT="filesystem") as live:
        everything_waits(live)
        with two_clocks(live) as notes:
            wait_until(lambda: is_done(live), "all is done")
            before = noted(*notes)
            again = Counter({f"did {task}": before[f"did {task}"] + 2 for task in TASKS})
            wait_until(lambda: noted(*notes) >= again, "every task has run again")
            assert all(noted(file) >= Counter(f"asked for {task}" for task in TASKS) for file in notes)
        assert len(sent(live)) == len(set(sent(live))) == 3
        stored = "SELECT kind, state, count(*) FROM custody_entry GROUP BY kind, state ORDER BY kind"
        assert live.sql(stored) == [("decision", "stored", 2), ("notice", "stored", 2)]
        assert len(list(live.data_dir.glob("vault/*/records/*/*"))) == 4
        assert len(live.sql("SELECT 1 FROM notices_reminder")) == 1
