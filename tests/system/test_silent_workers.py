"""Silent web processes: they are replaced, and the others continue."""

import http.client
import os
import signal
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.system.live import Server, group, server, wait_until

pytestmark = pytest.mark.once


@pytest.fixture
def live() -> Iterator[Server]:
    with server(workers=2, application="tests.support.freezing:application", WEB_SILENT_SECONDS="3") as running:
        wait_until(lambda: len(workers(running)) == 2, "both workers run")
        yield running


def workers(live: Server) -> set[int]:
    return set(group(live.pid)) - {live.pid}


def freeze(live: Server) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", live.port)) as connection:
        connection.request("GET", "/freeze")
        with pytest.raises((ConnectionError, http.client.HTTPException)):
            connection.getresponse()


def stop(live: Server) -> None:
    os.kill(min(workers(live)), signal.SIGSTOP)


@pytest.mark.parametrize("silence", [freeze, stop])
def test_a_silent_worker_is_replaced_and_the_other_continues(live, silence):
    before = workers(live)
    silence(live)
    wait_until(lambda: len(workers(live)) == 2 and workers(live) != before, "the silent worker is replaced")
    assert len(workers(live) & before) == 1
    wait_until(lambda: '"event": "web process replaced"' in live.log.read_text(), "the log says so")
    for number in range(8):  # separate connections, so that both workers are asked
        with live.client() as client:
            assert client.ingest(b'{"decision_id": "after %d"}' % number).status == 201


def test_the_log_says_where_a_worker_froze(live):
    freeze(live)
    assert "freezing.py" in live.log.read_text()
