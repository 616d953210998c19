"""Disposed records: no byte of their content is left in anything that the service writes.

A running service, with its worker and logs at DEBUG, gets marks in every field during the whole life of a decision.
Then its family is disposed of, rows without a family expire, and the tests search everything for the marks.
"""

import base64
import json
from collections.abc import Iterator

import pytest

from tests.reconsiderations.canaries import database_dump, files_below
from tests.system.live import Server, server, wait_until, worker

pytestmark = pytest.mark.boots

MARK = "canary-6Rt2xW"
KEPT_MARK = "canary-kept-4Jq"
ADDRESS = f"{MARK}@home.example"
RECORD = {
    "decision_id": f"{MARK}-loan",
    "decided_at": "2020-01-02T03:04:05Z",
    "system": {"name": f"{MARK} scorer", "version": f"{MARK} v1"},
    "subject": {"reference": f"{MARK}-7", "name": MARK},
    "events": {"application": {MARK: MARK, "income": 1234}},
    "outcome": {"action": f"{MARK} denied", "reasons": [f"The file of {MARK} is too thin."]},
}
REVIEW = {
    "requested_by": MARK,
    "reviewer": MARK,
    "reviewer_authority": f"{MARK} officer",
    "evidence_considered": [f"{MARK} payslip"],
    "outcome": f"{MARK} overturned",
    "rationale": f"{MARK} has a higher income.",
    "new_action": f"{MARK} approved",
}
RECIPIENT = {"name": f"{MARK} Person", "address": f"{MARK} Street 1", "email": ADDRESS, "reference": f"{MARK}-7"}
_TRACES = [
    MARK.encode(),
    MARK.encode().hex().encode(),
    *(base64.b64encode(b"\0" * shift + MARK.encode())[4:-4] for shift in range(3)),
]

ASK = f"""
from notices import selectors, services
notice = selectors.notice_with_letter("{{notice}}")
code = selectors.letter(notice).review_code
services.request_review(notice=notice, code=code, message="{MARK} asks", email="{ADDRESS}")
"""
AGE = f"""
from datetime import timedelta
from django.utils import timezone
from accounts.models import Organization
from connectors.models import *
from custody.disposal import age_sweeps
organization, now = Organization.objects.get(), timezone.now()
connector = Connector.objects.create(organization=organization, kind="directory", name="files",
    cursor={{"object": {{"name": "{MARK}.json"}}}}, stopped_at=now, stopped_because="{MARK}.json took too long")
PollRun.objects.create(connector=connector, started_at=now, detail="{MARK}.json took too long to read.")
Quarantined.objects.create(connector=connector, cause="invalid", position="{MARK}.json, line 1",
    origin="{MARK}.json", reason="{MARK}", digest="{MARK}", cursor={{"object": "{MARK}"}}, created_at=now)
LedgerRow.objects.create(connector=connector, name="{MARK}.json", version="1", read_at=now)
"""
DISPOSE = f"""
from tests.disposals import dispose_of
dispose_of(organization, "{RECORD["decision_id"]}")
print(age_sweeps.sweep(organization.pk, now + timedelta(days=1)))
"""


def call(live: Server, method: str, path: str, body: object = None, status: tuple[int, ...] = (200, 201)) -> dict:
    with live.client() as client:
        answer = client.request(method, f"/v1/{path}", json.dumps({} if body is None else body))
        assert answer.status in status, answer.body
        return json.loads(answer.body)


def live_a_whole_life(live: Server) -> str:
    """Run every operation on a decision, with a mark in every text. Return the address of its letter's page."""
    decision = f"decisions/{RECORD['decision_id']}"
    call(live, "POST", "ingest/srf", RECORD)
    call(live, "POST", "ingest/srf", RECORD | {"outcome": {"action": f"{MARK} other"}}, status=(409,))
    reviewed = call(live, "POST", f"{decision}/reconsideration", REVIEW)["decision_id"]
    call(live, "POST", f"decisions/{reviewed}/notices", {"recipient": RECIPIENT})
    notice = call(live, "POST", f"{decision}/notices", {"recipient": RECIPIENT})
    path = f"notices/{notice['notice_id']}"
    call(live, "PATCH", path, {"content": {"title": f"{MARK} denied", "human_review_available": True}})
    call(live, "PUT", f"{path}/not-applicable", {"elements": {"inputs": f"{MARK} gave none"}})
    submitted = call(live, "POST", f"{path}/submit")
    call(live, "POST", f"{path}/request-changes", {"reason": f"{MARK} is misspelled"})
    approval: dict[str, object] = {
        "approver": f"{MARK} approver",
        "authority": f"{MARK} head",
        "comment": f"{MARK} fine",
    }
    approval["acknowledge"] = [warning["id"] for warning in submitted["warnings"]]
    approved = call(live, "POST", f"{path}/approve", approval)
    posted = {"channel": "post", "address": f"{MARK} Street 1", "reference": f"{MARK} tracking"}
    delivery = call(live, "POST", f"{path}/deliveries", posted)["delivery_id"]
    call(live, "POST", f"{path}/deliveries/{delivery}/return", {"reason": f"{MARK} moved"})
    call(live, "POST", f"{path}/deliveries", {"channel": "email"})
    waiting = "SELECT 1 FROM notices_delivery WHERE handled_at IS NULL"
    wait_until(lambda: not live.sql(waiting), "the letter is mailed")
    live.manage("shell", "-c", ASK.format(notice=notice["notice_id"]))
    unacknowledged = "SELECT 1 FROM notices_reviewrequest WHERE handled_at IS NULL"
    wait_until(lambda: not live.sql(unacknowledged), "the request is acknowledged")
    ((request,),) = live.sql("SELECT id FROM notices_reviewrequest")
    call(live, "POST", f"review-requests/{request}/close", {"reason": f"{MARK} called"})
    return approved["public_address"]


def everything_stored(live: Server) -> Iterator[tuple[str, bytes]]:
    """Yield all files of the service except mails: the mail files stand for the receivers' mailboxes."""
    yield "database", database_dump(live.environment["DATABASE_URL"])
    for path in sorted(live.data_dir.rglob("*")):
        if path.is_file() and (live.data_dir / "mail") not in path.parents:
            yield str(path), path.read_bytes()
    yield "log", live.log.read_bytes()
    yield "worker's log", (live.directory / "worker.log").read_bytes()


def places_with_marks(live: Server) -> list[str]:
    return [
        f"{place}: {content[max(0, at - 60) : at + 60]!r}"
        for place, content in everything_stored(live)
        for trace in _TRACES
        if (at := content.find(trace)) >= 0
    ]


@pytest.mark.parametrize("vault", ["database", pytest.param("filesystem", marks=pytest.mark.once)])
def test_no_trace_of_a_disposed_family_is_left(vault):
    settings = {"LOG_LEVEL": "DEBUG", "CUSTODY_VAULT": vault}
    with server(workers=1, **settings) as live, worker(live):
        call(live, "POST", "ingest/srf", {"decision_id": KEPT_MARK})
        page = live_a_whole_life(live)
        assert any("database" in place for place in places_with_marks(live)), (
            "the search does not cover the right place"
        )
        output = live.manage("shell", "-c", AGE + DISPOSE)
        assert "names in ledgers of connectors" in output
        with live.client() as client:
            gone = client.get(f"/v1/decisions/{RECORD['decision_id']}/record")
            assert gone.status == 410
            assert MARK.encode() not in gone.body
            letter = client.request("GET", "/" + page.split("/", 3)[3])
            assert (letter.status, MARK.encode() in letter.body) == (200, False)
        assert KEPT_MARK.encode() in database_dump(live.environment["DATABASE_URL"])
        assert places_with_marks(live) == []
        mails = b"".join(files_below(live.data_dir / "mail"))
        assert MARK.encode() in mails or b"home.example" in mails, "sent mails are not disposed of"
