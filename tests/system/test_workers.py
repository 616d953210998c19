"""A web worker that dies under load: it is replaced, the others continue, and a client loses at most its request."""

import http.client
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.system.live import Server, group, server, wait_until

CLIENTS = 6


class Sender:
    """A client that sends one record after another, each until it is stored, and reconnects after an error."""

    def __init__(self, live: Server, name: str) -> None:
        self.name, self.client = name, live.client()
        self.stored, self.lost = 0, 0

    def record(self, number: int) -> bytes:
        return b'{"decision_id": "%s-%d"}' % (self.name.encode(), number)

    def send(self, more: int) -> None:
        goal = self.stored + more
        while self.stored < goal:
            try:
                answer = self.client.ingest(self.record(self.stored))
            except (OSError, http.client.HTTPException):
                self.lost += 1
                self.client.close()
                continue
            assert answer.status in (200, 201), answer.body
            self.stored += 1


def workers(live: Server) -> set[int]:
    return set(group(live.pid)) - {live.pid}


@pytest.mark.once  # test_faults.py kills all processes, on each database
def test_a_killed_worker_is_replaced_and_each_client_loses_few_requests():
    with server(workers=3) as live, ThreadPoolExecutor(CLIENTS) as pool:
        wait_until(lambda: len(workers(live)) == 3, "every worker runs")
        senders = [Sender(live, f"sender-{number}") for number in range(CLIENTS)]
        sending = [pool.submit(sender.send, 30) for sender in senders]
        wait_until(
            lambda: all(sender.stored >= 10 for sender in senders) or any(future.done() for future in sending),
            "every client sends",
        )
        before = workers(live)
        killed = min(before)
        os.kill(killed, signal.SIGKILL)
        for future in sending:
            future.result()
        wait_until(lambda: len(workers(live) - {killed}) == 3, "the worker is replaced")
        for future in [pool.submit(sender.send, 5) for sender in senders]:
            future.result()
        assert before - {killed} < workers(live)
        assert max(sender.lost for sender in senders) <= 2
        for sender in senders:
            with sender.client as client:
                for number in range(sender.stored):
                    assert client.get(f"/v1/decisions/{sender.name}-{number}/record").body == sender.record(number)
