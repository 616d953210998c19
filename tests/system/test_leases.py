"""Leases of workers: a worker that is stopped past its lease completes nothing, and the next one does the work once."""

import os
import signal
from pathlib import Path

import pytest

from tests.support.forks import Fork
from tests.system.live import Server, server, wait_until
from tests.threads import HANGS_SECONDS

# Claims and completions of leases run on both databases in tests/config/test_leases.py.
pytestmark = pytest.mark.once
RECORD = b'{"decision_id": "loan-1", "outcome": {"action": "denied", "reasons": ["The income is too low."]}}'
# The worker stops itself when it has its first lease, as an overloaded machine or a debugger would stop it.
WORKER = """
import os, signal, sys
from django.utils.module_loading import import_string
from config import leases
claim = leases.claim
def claim_and_stop(*arguments, **options):
    rows = claim(*arguments, **options)
    if rows:
        leases.claim = claim
        os.kill(os.getpid(), signal.SIGSTOP)
    return rows
if sys.argv[2] == "stop":
    leases.claim = claim_and_stop
if sys.argv[1].startswith("/"):
    from django.test import Client
    client = Client(SERVER_NAME="127.0.0.1", headers={"Authorization": "Bearer " + sys.argv[3]})
    approval = {"approver": "A. Person", "authority": "officer"}
    sys.exit(client.post(sys.argv[1], approval, content_type="application/json").status_code != 200)
import_string(sys.argv[1])()
"""
OF_A_LEASE = {
    "accounts.tasks.deliver_mail": "accounts_onetimecode",
    "notices.tasks.deliver_letters": "notices_delivery",
    "custody.tasks.reconcile": "custody_waitingobject",
    "notices.tasks.seal_approved": "notices_approval",
}


def a_code_waits(live: Server) -> None:
    with live.client() as client:
        assert client.request("POST", "/v1/auth/otp/request", b'{"email": "owner@live.example"}').status == 200


def a_draft(live: Server) -> str:
    with live.client() as client:
        assert client.ingest(RECORD).status == 201
        drafted = client.request("POST", "/v1/decisions/loan-1/notices", b'{"pack": "general"}')
        return str(drafted.json()["notice_id"])


def a_letter_waits(live: Server) -> None:
    notice = a_draft(live)
    with live.client() as client:
        approval = b'{"approver": "A. Person", "authority": "officer"}'
        approved = client.request("POST", f"/v1/notices/{notice}/approve", approval)
        assert approved.status == 200, approved.body
        sent = b'{"channel": "email", "address": "reader@live.example"}'
        assert client.request("POST", f"/v1/notices/{notice}/deliveries", sent).status == 201


def a_record_waits(live: Server) -> None:
    vault, away = live.data_dir / "vault", live.data_dir / "away"
    vault.rename(away)
    with live.client() as client:
        assert client.ingest(RECORD).status == 503
    away.rename(vault)
    live.sql("UPDATE custody_waitingobject SET lease_until = NULL")


def work(live: Server, task: str, how: str) -> Fork:
    return live.fork(WORKER, [task, how, live.key], live.directory / "work.log")


def has_stopped(worker: Fork) -> bool:
    assert worker.poll() is None, "the worker has ended"
    return Path(f"/proc/{worker.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def stopped_at_work(live: Server, task: str) -> Fork:
    worker = work(live, task, "stop")
    wait_until(lambda: has_stopped(worker), "the worker has its lease")
    return worker


def everything(live: Server) -> list[object]:
    """Return every row and file that such work could change."""
    tables = [*OF_A_LEASE.values(), "notices_notice", "notices_sealednotice", "custody_entry", "accounts_auditevent"]
    rows = [sorted(map(repr, live.sql(f"SELECT * FROM {table}"))) for table in tables]
    return [*rows, sorted((path, path.read_bytes()) for path in live.data_dir.glob("vault/**/*") if path.is_file())]


def mails(live: Server) -> list[str]:
    return sorted(path.read_text() for path in (live.data_dir / "mail").glob("*"))


@pytest.mark.parametrize(
    ("task", "prepare"),
    [("accounts.tasks.deliver_mail", a_code_waits), ("notices.tasks.deliver_letters", a_letter_waits)],
)
def test_a_worker_stopped_past_its_lease_completes_nothing(task, prepare):
    with server() as live:
        prepare(live)
        stopped = stopped_at_work(live, task)
        try:
            assert mails(live) == []
            live.sql(f"UPDATE {OF_A_LEASE[task]} SET lease_until = '2000-01-01 00:00:00+00:00'")
            assert work(live, task, "go on").wait(HANGS_SECONDS) == 0
            done, sent = everything(live), mails(live)
            assert len(sent) == 1
        finally:
            os.kill(stopped.pid, signal.SIGCONT)
        assert stopped.wait(HANGS_SECONDS) == 0
        assert (everything(live), mails(live)) == (done, sent)


def test_an_approval_request_stopped_past_its_lease_seals_nothing():
    """The approval is valid, and another worker has sealed the notice once."""
    with server() as live:
        stopped = stopped_at_work(live, f"/v1/notices/{a_draft(live)}/approve")
        try:
            assert live.sql("SELECT 1 FROM notices_sealednotice") == []
            live.sql("UPDATE notices_approval SET lease_until = '2000-01-01 00:00:00+00:00'")
            assert work(live, "notices.tasks.seal_approved", "go on").wait(HANGS_SECONDS) == 0
            done = everything(live)
            assert len(live.sql("SELECT 1 FROM notices_sealednotice")) == 1
        finally:
            os.kill(stopped.pid, signal.SIGCONT)
        assert stopped.wait(HANGS_SECONDS) == 0
        assert everything(live) == done


def test_a_reconciler_stopped_past_its_lease_finishes_nothing():
    """Another reconciler has claimed the record, and still works on it, when the first continues."""
    with server(CUSTODY_VAULT="filesystem") as live:
        a_record_waits(live)
        workers = []
        try:
            for _ in range(2):
                workers.append(stopped_at_work(live, "custody.tasks.reconcile"))
                claimed = live.sql("SELECT lease_token FROM custody_waitingobject")
                if len(workers) == 1:
                    live.sql("UPDATE custody_waitingobject SET lease_until = '2000-01-01 00:00:00+00:00'")
            os.kill(workers[0].pid, signal.SIGCONT)
            assert workers[0].wait(HANGS_SECONDS) == 0
            assert live.sql("SELECT state FROM custody_entry") == [("reserved",)]
            assert live.sql("SELECT lease_token FROM custody_waitingobject") == claimed
        finally:
            os.kill(workers[-1].pid, signal.SIGCONT)
        assert workers[1].wait(HANGS_SECONDS) == 0
        assert live.sql("SELECT state FROM custody_entry") == [("stored",)]
        assert live.sql("SELECT 1 FROM custody_waitingobject") == []
        with live.client() as client:
            assert client.get("/v1/decisions/loan-1/record").body == RECORD


def test_the_work_of_a_killed_worker_is_done_after_its_lease_expires():
    with server() as live:
        a_code_waits(live)
        stopped_at_work(live, "accounts.tasks.deliver_mail").kill()
        assert work(live, "accounts.tasks.deliver_mail", "go on").wait(HANGS_SECONDS) == 0
        assert mails(live) == [], "its lease has not expired"
        live.sql("UPDATE accounts_onetimecode SET lease_until = '2000-01-01 00:00:00+00:00'")
        assert work(live, "accounts.tasks.deliver_mail", "go on").wait(HANGS_SECONDS) == 0
        wait_until(lambda: len(mails(live)) == 1, "the mail is written")
