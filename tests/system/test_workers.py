"""A web worker that dies under load: the others go on, it is started again, and a client loses its own request."""

import http.client
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.system.live import Server, group, server, wait_until

CLIENTS = 6


class Sender:
    """Sends one record after another, each until it is taken, over a connection that it opens anew when it breaks."""

    def __init__(self, live: Server, name: str) -> None:
        self.name, self.client = name, live.client()
        self.taken, self.lost = 0, 0

    def record(self, number: int) -> bytes:
        return b'{"decision_id": "%s-%d"}' % (self.name.encode(), number)

    def send(self, more: int) -> None:
        goal = self.taken + more
        while self.taken < goal:
            try:
                answer = self.client.ingest(self.record(self.taken))
            except (OSError, http.client.HTTPException):
                self.lost += 1
                self.client.close()
                continue
            assert answer.status in (200, 201), answer.body
            self.taken += 1


def workers(live: Server) -> set[int]:
    return set(group(live.pid)) - {live.pid}


@pytest.mark.once  # what a database does when everything is killed is in test_faults.py
def test_when_a_worker_is_killed_each_client_loses_one_request_at_most_and_the_worker_is_replaced():
    with server(workers=3) as live, ThreadPoolExecutor(CLIENTS) as pool:
        wait_until(lambda: len(workers(live)) == 3, "every worker is there")
        senders = [Sender(live, f"sender-{number}") for number in range(CLIENTS)]
        sending = [pool.submit(sender.send, 30) for sender in senders]
        wait_until(
            lambda: all(sender.taken >= 10 for sender in senders) or any(each.done() for each in sending),
            "every client sends",
        )
        before = workers(live)
        killed = min(before)
        os.kill(killed, signal.SIGKILL)
        for each in sending:
            each.result()
        wait_until(lambda: len(workers(live) - {killed}) == 3, "the worker is replaced")
        for each in [pool.submit(sender.send, 5) for sender in senders]:
            each.result()
        assert before - {killed} < workers(live)
        assert max(sender.lost for sender in senders) <= 2
        for sender in senders:
            with sender.client as client:
                for number in range(sender.taken):
                    assert client.get(f"/v1/decisions/{sender.name}-{number}/record").body == sender.record(number)
