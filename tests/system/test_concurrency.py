"""Concurrency: many callers at once, on two server processes."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

from tests.system.live import Answer, Server

CALLERS = 64


def post_at_once(live: Server, bodies: list[bytes]) -> list[Answer]:
    """Send each body on a separate connection, all at the same moment."""
    barrier = threading.Barrier(len(bodies))

    def post(body: bytes) -> Answer:
        with live.client() as client:
            client.connection.connect()
            barrier.wait()
            return client.ingest(body)

    with ThreadPoolExecutor(len(bodies)) as pool:
        return list(pool.map(post, bodies))


def test_a_record_posted_by_64_callers_at_once_is_created_once_with_one_receipt(live_with_each_vault):
    record = b'{"decision_id": "same", "outcome": {"action": "denied"}}'
    answers = post_at_once(live_with_each_vault, [record] * CALLERS)
    assert sorted(answer.status for answer in answers) == [200] * 63 + [201]
    receipts = {json.dumps(answer.json(), sort_keys=True) for answer in answers}
    assert len(receipts) == 1


def test_one_of_64_concurrent_contents_for_one_id_is_created_and_63_conflict(live_with_each_vault):
    live = live_with_each_vault
    bodies = [b'{"decision_id": "contested", "caller": %d}' % number for number in range(CALLERS)]
    answers = post_at_once(live, bodies)
    assert sorted(answer.status for answer in answers) == [201] + [409] * 63
    (winner,) = [body for body, answer in zip(bodies, answers, strict=True) if answer.status == 201]
    with live.client() as client:
        assert client.get("/v1/decisions/contested/record").body == winner
    conflicts = live.sql("SELECT count(*) FROM accounts_auditevent WHERE verb = 'record.conflict'")
    assert conflicts == [(63,)]


def test_records_of_different_ids_at_once_are_all_created(live_with_each_vault):
    live = live_with_each_vault
    bodies = [b'{"decision_id": "own-%d"}' % number for number in range(CALLERS)]
    answers = post_at_once(live, bodies)
    assert [answer.status for answer in answers] == [201] * CALLERS
    assert live.answered_by_lane() > 0
    assert len({answer.json()["record_id"] for answer in answers}) == CALLERS


def test_concurrent_overlapping_batches_create_each_record_once(live_with_each_vault):
    live = live_with_each_vault
    lines = [b'{"decision_id": "batch-%d"}' % number for number in range(100)]

    def upload(number: int) -> list[str]:
        turned = lines[number * 12 :] + lines[: number * 12]
        with live.client() as client:
            answer = client.request(
                "POST", "/v1/ingest/srf/batch", b"\n".join(turned), Content_Type="application/x-ndjson"
            )
        assert answer.status == 200
        return [json.loads(line)["status"] for line in answer.body.splitlines()]

    with ThreadPoolExecutor(8) as pool:
        statuses = [status for answers in pool.map(upload, range(8)) for status in answers]
    assert statuses.count("created") == len(lines)
    assert statuses.count("replayed") == 7 * len(lines)
