"""`make run` on a fresh checkout: one command sets everything up, serves, and leaves no process when it ends."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.databases import CHECKOUT
from tests.system.live import Client, lasting_port, listens, wait_until
from tests.threads import HANGS_SECONDS

pytestmark = pytest.mark.once  # it creates its own database

SAMPLES = 2380 + 20


class Run:
    """`make run` in a copy of the checkout, started like in a terminal: as the leader of a process group."""

    def __init__(self, copy: Path) -> None:
        self.copy, self.port, self.data, self.log = copy, lasting_port(), copy / "own-data", copy / "output"
        self.process: subprocess.Popen[bytes] | None = None
        self.key = ""

    def start(self) -> None:
        """Start, and wait until the service answers."""
        inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                ["make", "run"], cwd=self.copy, env=inherited | {"PORT": str(self.port), "DATA_DIR": str(self.data)},
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, umask=0o022,
            )  # fmt: skip
        wait_until(lambda: self.answers() or self.process.poll() is not None, "the service answers")
        assert self.process.poll() is None, self.output()

    def answers(self) -> bool:
        with suppress(OSError), Client(self.port, self.key) as client:
            return client.get("/healthz").status == 200
        return False

    def output(self) -> str:
        return self.log.read_text()

    def ctrl_c(self) -> None:
        """Send the signal to every process in the foreground, as a terminal does."""
        os.killpg(self.process.pid, signal.SIGINT)
        self.process.wait(HANGS_SECONDS)

    def end(self) -> None:
        for pid in processes_of(self):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    copy = tmp_path_factory.mktemp("checkout")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True)
    for name in listed.stdout.split("\0"):
        if (CHECKOUT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(CHECKOUT / name, copy / name)
    (copy / ".venv").symlink_to(CHECKOUT / ".venv")
    for lock in copy.glob("requirements*.lock"):
        os.utime(lock, (0, 0))  # older than the environment, so installed already
    running = Run(copy)
    yield running
    running.end()


@pytest.mark.parametrize(
    ("targets", "locks"),
    [(["run"], ["-pip", ""]), (["lint", "test"], ["-pip", "", "-dev"]), (["docs"], ["-pip", "", "-dev"])],
)
def test_only_targets_of_developers_install_development_packages_and_each_lock_once(targets, locks):
    command = ["make", "--dry-run", "--always-make", *targets]
    planned = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout
    assert re.findall(r"install\.sh requirements([\w-]*)\.lock", planned) == locks


def processes_of(run: Run) -> set[int]:
    """Return every process that `make run` started, of any group: they all have its DATA_DIR."""
    mark = f"DATA_DIR={run.data}\0".encode()
    pids = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if mark in (entry / "environ").read_bytes() + b"\0":
                    pids.add(int(entry.name))
            except OSError:  # the process has ended
                continue
    return pids


def test_make_run_sets_up_serves_and_ends_with_ctrl_c(run: Run):
    run.start()
    key = shown_key(run)
    assert set(re.findall(r"http://[\w.]+:(\d+)", run.output())) == {str(run.port)}
    with Client(run.port, key) as client:
        wait_until(lambda: client.get("/readyz").status == 200, "everything is ready")
        assert decisions(client) == SAMPLES
        (connector,) = client.get("/v1/connectors").json()["items"]
        assert connector["records"] == {"seen": 380, "new": 380, "repeated": 0, "quarantined": 0}
        put(run.data / "imports/mine.ndjson", b'{"decision_id": "mine"}\n')
        assert client.request("POST", f"/v1/connectors/{connector['source_id']}/poll").status == 200
        wait_until(lambda: client.get("/v1/decisions/mine").status == 200, "the worker polls the connector")
        assert client.get("/docs/").status == client.get("/sign-in/").status == 200
        assert client.request("POST", "/v1/auth/otp/request", b'{"email": "owner@demo.example"}').status == 200
    wait_until(lambda: f"http://127.0.0.1:{run.port}/sign-in/" in mails(run), "the worker sends the code")
    assert len(processes_of(run)) > 3
    run.ctrl_c()
    everything_has_ended(run)
    assert {"db", "celerybeat-schedule", "broker", "keys", "mail"} <= {path.stem for path in run.data.iterdir()}
    assert [path for path in (run.data, *run.data.rglob("*")) if path.stat().st_mode & 0o077] == []
    run.key = key


@pytest.fixture(scope="module")
def again(run: Run) -> Iterator[Run]:
    """Start a second time, after the first run has ended."""
    run.start()
    yield run
    run.end()


def test_a_second_start_keeps_the_data(again: Run):
    assert shown_key(again) == again.key
    assert "Taking custody" not in again.output()
    with Client(again.port, again.key) as client:
        assert decisions(client) == SAMPLES + 1
        assert client.get("/v1/decisions/mine/record").body == b'{"decision_id": "mine"}'


def put(path: Path, content: bytes) -> None:
    """Write a file that is complete when it appears, and looks old."""
    hidden = path.with_name(f".{path.name}.tmp")
    hidden.write_bytes(content)
    hidden.chmod(0o600)
    os.utime(hidden, (0, 0))
    hidden.rename(path)


def shown_key(run: Run) -> str:
    wait_until(lambda: re.search(r"drs_[0-9a-f]{16}_[\w-]{43}", run.output()), "the key is shown")
    return re.search(r"drs_[0-9a-f]{16}_[\w-]{43}", run.output())[0]


def mails(run: Run) -> str:
    return "".join(path.read_text() for path in (run.data / "mail").glob("*"))


def decisions(client: Client) -> int:
    """Count the decisions, page by page."""
    count, cursor = 0, ""
    while cursor is not None:
        page = client.get(f"/v1/decisions?limit=200&cursor={cursor}").json()
        count, cursor = count + len(page["items"]), page["next_cursor"]
    return count


def everything_has_ended(run: Run) -> None:
    wait_until(lambda: not processes_of(run), "every process has ended")
    assert not listens(run.port)
    assert "Traceback" not in run.output(), run.output()


@pytest.mark.parametrize("part", ["poller@%h", "config.web"])  # a worker and the web server
def test_a_part_that_ends_is_restarted_and_the_others_continue(again: Run, part: str):
    with Client(again.port, again.key) as client:
        wait_until(lambda: client.get("/readyz").status == 200, "everything is ready")
    (ended,) = parts_of(again, part)
    others = parts_of(again) - {ended}
    assert len(others) == 6
    os.kill(ended, signal.SIGKILL)
    wait_until(lambda: parts_of(again, part) - {ended}, "the part runs again")
    assert others < parts_of(again)
    wait_until(lambda: listens(again.port), "the service answers")
    with Client(again.port, again.key) as client:
        assert client.get("/v1/decisions").status == 200


def test_ctrl_c_during_the_start_of_a_part_ends_everything(again: Run):
    for pid in parts_of(again, "config.web"):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: parts_of(again, "config.web"), "the web server starts again")
    again.ctrl_c()
    everything_has_ended(again)


def parts_of(run: Run, word: str = "-m") -> set[int]:
    """Return the group leaders of the parts with this word on their command line."""
    return {pid for pid in processes_of(run) if is_leader(pid) and word in words_of(pid)}


def is_leader(pid: int) -> bool:
    with suppress(ProcessLookupError):
        return os.getpgid(pid) == pid
    return False


def words_of(pid: int) -> list[str]:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    return []
