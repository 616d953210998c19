"""A web worker that dies under load: the others go on, it is started again, and a client loses its own request."""

import http.client
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from tests.system.live import Server, group, server, wait_until

CLIENTS = 6


class Sender:
    """Sends one record after another, each until it is taken, over a connection that it opens anew when it breaks."""

    def __init__(self, live: Server, name: str) -> None:
        self.live, self.name = live, name
        self.taken, self.lost = 0, 0

    def record(self, number: int) -> bytes:
        return b'{"decision_id": "%s-%d"}' % (self.name.encode(), number)

    def send_until(self, stop: Event) -> None:
        client = self.live.client()
        while not stop.is_set():
            try:
                answer = client.ingest(self.record(self.taken))
            except (OSError, http.client.HTTPException):
                self.lost += 1
                client.close()
                continue
            assert answer.status in (200, 201), answer.body
            self.taken += 1
        client.close()


def workers(live: Server) -> set[int]:
    return set(group(live.pid)) - {live.pid}


@pytest.mark.once  # what a database does when everything is killed is in test_faults.py
def test_when_a_worker_is_killed_each_client_loses_one_request_at_most_and_the_worker_is_replaced():
    with server(workers=3) as live, ThreadPoolExecutor(CLIENTS) as pool:
        wait_until(lambda: len(workers(live)) == 3, "every worker is there")
        senders, stop = [Sender(live, f"sender-{number}") for number in range(CLIENTS)], Event()
        running = [pool.submit(sender.send_until, stop) for sender in senders]

        def each_has_sent(more: int) -> None:
            goals = [sender.taken + more for sender in senders]
            reached = lambda: all(s.taken >= goal for s, goal in zip(senders, goals, strict=True))  # noqa: E731
            wait_until(lambda: reached() or any(each.done() for each in running), "every client goes on")

        try:
            each_has_sent(10)
            before = workers(live)
            killed = min(before)
            os.kill(killed, signal.SIGKILL)
            each_has_sent(10)
            wait_until(lambda: len(workers(live) - {killed}) == 3, "the worker is replaced")
            each_has_sent(10)
        finally:
            stop.set()
        for each in running:
            each.result()
        assert before - {killed} < workers(live)
        assert max(sender.lost for sender in senders) <= 2
        with live.client() as client:
            for sender in senders:
                for number in range(sender.taken):
                    assert client.get(f"/v1/decisions/{sender.name}-{number}/record").body == sender.record(number)
