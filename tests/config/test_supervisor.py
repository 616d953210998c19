"""Processes of `manage.py serve` are restarted when they end, stopped together, and given up if they cannot start."""

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from config import supervisor
from tests.support import forks
from tests.system.live import group, lasting_port, wait_until
from tests.threads import HANGS_SECONDS

pytestmark = pytest.mark.boots
_LIVES_ON = "import time\nif __name__ == '__main__': time.sleep(1000)"


class Messages(list):
    """Messages of parts, and a factory of parts that report to it."""

    def part(self, name: str, script: str, directory: Path) -> supervisor.Part:
        return supervisor.Part(name, ["/bin/sh", "-c", script], self.append, cwd=directory, env=dict(os.environ))


@pytest.fixture
def messages() -> Messages:
    return Messages()


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
    assert messages == ["The mortal ended (killed by SIGKILL). It is started again in 1 s."]


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


def test_a_part_that_cannot_start_stops_all_and_says_why(messages, tmp_path):
    good = messages.part("good", "exec sleep 1000", tmp_path)
    with pytest.raises(supervisor.CannotStart, match=r"^The bad cannot start: exit code 3, 3 times at once\."):
        supervisor.run([good, messages.part("bad", "echo x >> bad; exit 3", tmp_path)])
    assert len(lines(tmp_path / "bad")) == 3
    assert good.process.poll() is not None


def test_a_part_that_has_run_once_is_never_given_up(messages, tmp_path):
    part = messages.part("part", "echo x >> part; exit 3", tmp_path)
    part.has_run = True
    run_and([part], lambda: wait_until(lambda: len(lines(tmp_path / "part")) > 3, "it was tried more often"))
    pauses = [f"The part ended (exit code 3). It is started again in {seconds} s." for seconds in (1, 2, 4)]
    assert messages[:3] == pauses


def test_serve_gives_up_with_a_sentence_and_a_code_when_a_part_cannot_start(tmp_path):
    for program, text in {"granian": "raise SystemExit(1)", "celery": _LIVES_ON}.items():
        (tmp_path / f"{program}.py").write_text(text)  # found before the installed ones
    environment = {**os.environ, "DATA_DIR": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path}/db.sqlite3"}
    done = forks.run(forks.MANAGE, {**environment, "PYTHONPATH": str(tmp_path)}, "serve", "--port", str(lasting_port()))
    assert done.returncode == 1
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
