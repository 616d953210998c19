"""Processes of `manage.py serve` are restarted when they end, stopped together, and only a bad web server stops all."""

import os
import re
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from config import supervisor
from tests.databases import CHECKOUT
from tests.support import forks
from tests.system.live import group, lasting_port, wait_until
from tests.threads import HANGS_SECONDS

pytestmark = pytest.mark.boots
# The text of a module that each new process imports first.
_PROGRAMS_THAT_CANNOT_RUN = """
import os, sys
from pathlib import Path
starts = Path(os.environ["DATA_DIR"], "starts")
if "celery" in sys.orig_argv:
    with starts.open("a") as file:
        file.write("x")
    os.kill(os.getpid(), 9)
if "config.web" in sys.orig_argv:
    from tests.system.live import wait_until
    wait_until(lambda: starts.exists() and len(starts.read_text()) >= 16, "four workers and clocks started four times")
    os._exit(1)
"""


class Messages(list):
    """Messages of parts, and a factory of parts that report to it."""

    def part(self, name: str, script: str, directory: Path, *, essential: bool = False) -> supervisor.Part:
        command = ["/bin/sh", "-c", script]
        return supervisor.Part(name, command, self.append, essential=essential, cwd=directory, env=dict(os.environ))


@pytest.fixture
def messages() -> Messages:
    return Messages()


@pytest.fixture
def short_pauses(monkeypatch):
    monkeypatch.setattr(supervisor, "_FIRST_PAUSE", timedelta(seconds=0.1))
    monkeypatch.setattr(supervisor, "_MAX_PAUSE", timedelta(seconds=0.4))


def lines(path: Path) -> list[str]:
    """Return the complete lines of a file, or none if it does not exist yet."""
    return path.read_text().split("\n")[:-1] if path.exists() else []


def run_and(parts: list[supervisor.Part], then: Callable[[], object]) -> None:
    """Run parts until `then`, in another thread, has returned. Stop them like Ctrl-C does."""

    def observe() -> None:
        try:
            then()
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    observer = threading.Thread(target=observe)
    observer.start()
    supervisor.run(parts)
    observer.join()


def test_a_part_that_ends_is_restarted_without_the_others(messages, tmp_path):
    mortal = messages.part("mortal", "echo $$ >> mortal; exec sleep 1000", tmp_path)
    other = messages.part("other", "echo $$ >> other; exec sleep 1000", tmp_path)

    def kill_one() -> None:
        wait_until(lambda: lines(tmp_path / "mortal") and lines(tmp_path / "other"), "both run")
        os.kill(int(lines(tmp_path / "mortal")[0]), signal.SIGKILL)
        wait_until(lambda: len(lines(tmp_path / "mortal")) == 2, "it runs again")
        assert len(lines(tmp_path / "other")) == 1

    run_and([mortal, other], kill_one)
    (message,) = messages
    assert re.fullmatch(r"The mortal ended \(killed by SIGKILL\)\. It is started again in (0\.[7-9]|1\.0) s\.", message)


def test_children_of_a_dead_part_are_killed_before_it_restarts(messages, tmp_path):
    part = messages.part("leader", "sleep 1000 & echo $$ $! >> pids; wait", tmp_path)

    def kill_leader() -> None:
        (pids,) = wait_until(lambda: lines(tmp_path / "pids"), "it runs")
        leader, child = map(int, pids.split())
        os.kill(leader, signal.SIGKILL)
        wait_until(lambda: len(lines(tmp_path / "pids")) == 2, "it runs again")
        assert child not in group(leader)

    run_and([part], kill_leader)


def test_ctrl_c_stops_all_parts_and_their_children(messages, tmp_path):
    stubborn = messages.part("stubborn", "trap '' INT; sleep 1000 & sleep 1000 & echo > ready; wait", tmp_path)
    run_and([stubborn], lambda: wait_until(lambda: (tmp_path / "ready").exists(), "it runs"))
    wait_until(lambda: not group(stubborn.process.pid), "all have ended")
    assert messages == []


def test_a_part_that_ignores_sigterm_is_killed_within_ten_seconds(tmp_path):
    script = "trap '' TERM; echo > ready; while :; do sleep 1000; done"
    deaf = supervisor.Part("deaf", ["/bin/sh", "-c", script], print, cwd=tmp_path, env=dict(os.environ))
    run_and([deaf], lambda: wait_until(lambda: (tmp_path / "ready").exists(), "it runs"))
    assert deaf.process.returncode == -signal.SIGKILL
    assert supervisor._MAX_STOP_SECONDS < 10


def test_an_essential_part_that_cannot_start_stops_all_and_says_why(messages, tmp_path):
    good = messages.part("good", "exec sleep 1000", tmp_path)
    with pytest.raises(supervisor.CannotStart, match=r"^The bad cannot start: exit code 3, 3 times at once\."):
        supervisor.run([good, messages.part("bad", "echo x >> bad; exit 3", tmp_path, essential=True)])
    assert len(lines(tmp_path / "bad")) == 3
    assert good.process.poll() is not None


@pytest.mark.parametrize(
    ("end", "essential", "has_run"),
    [
        ("exit 3", False, False),
        ("kill -KILL $$", False, False),
        ("kill -KILL $$", True, False),  # by the OOM killer: the command itself is good
        ("exit 0", True, False),
        ("exit 3", True, True),
    ],
)
def test_no_other_part_is_given_up(messages, tmp_path, short_pauses, end, essential, has_run):
    web = messages.part("web", "echo $$ >> web; exec sleep 1000", tmp_path, essential=True)
    part = messages.part("part", f"echo x >> part; {end}", tmp_path, essential=essential)
    part.has_run = has_run
    run_and([web, part], lambda: wait_until(lambda: len(lines(tmp_path / "part")) > 6, "it was tried more often"))
    assert len(lines(tmp_path / "web")) == 1
    assert [bool(re.match(r"The part keeps failing \(.*, \d times right", line)) for line in messages[:4]] == [
        False, False, True, True,
    ]  # fmt: skip
    pauses = [float(line.split()[-2]) for line in messages]
    assert pauses[0] < pauses[1] < pauses[2]
    assert max(pauses) <= 0.4


def test_a_process_that_cannot_be_created_is_tried_again(messages, tmp_path, short_pauses):
    part = supervisor.Part("part", [str(tmp_path / "program")], messages.append, essential=True, cwd=tmp_path)

    def create() -> None:
        wait_until(lambda: len(messages) > 3, "it was tried often")
        (tmp_path / "new").write_text("#!/bin/sh\necho x >> part; exec sleep 1000\n")
        (tmp_path / "new").chmod(0o700)
        (tmp_path / "new").rename(tmp_path / "program")
        wait_until(lambda: lines(tmp_path / "part"), "it runs")

    run_and([part], create)


def test_serve_gives_up_with_a_sentence_and_a_code_only_when_the_web_server_cannot_start(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(_PROGRAMS_THAT_CANNOT_RUN)
    path = f"{tmp_path}:{CHECKOUT}"
    environment = {**os.environ, "DATA_DIR": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path}/db.sqlite3"}
    done = forks.run(forks.MANAGE, {**environment, "PYTHONPATH": path}, "serve", "--port", str(lasting_port()))
    assert done.returncode == 1
    assert "The custody keeps failing (killed by SIGKILL, 3 times right after its start)." in done.stderr
    assert "The web server cannot start: exit code 1, 3 times at once." in done.stderr
    assert done.stderr.endswith("Everything was stopped.\n")


def test_serve_does_not_share_its_port_with_another(tmp_path):
    environment = {**os.environ, "DATA_DIR": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path}/db.sqlite3"}
    with socket.create_server(("127.0.0.1", 0)) as other:
        done = forks.run(forks.MANAGE, environment, "serve", "--port", str(other.getsockname()[1]))
    assert done.returncode == 1
    assert "is in use. Stop what listens there" in done.stderr


@pytest.mark.parametrize(
    ("how", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 0), (signal.SIGHUP, 0), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_no_signal_leaves_a_part_running(tmp_path, how, code):
    program = (
        "from config import supervisor\n"
        "supervisor.run([supervisor.Part('part', ['sh', '-c', 'echo $$ > pid; exec sleep 1000'], "
        f"say=print, cwd='{tmp_path}', env={{'PATH': '{os.environ['PATH']}'}})])"
    )
    running = subprocess.Popen([os.sys.executable, "-c", program], stdin=subprocess.DEVNULL)
    pid = int(wait_until(lambda: "".join(lines(tmp_path / "pid")), "the part runs"))
    running.send_signal(how)
    assert running.wait(HANGS_SECONDS) == code
    wait_until(lambda: not group(pid), "the part has ended")
