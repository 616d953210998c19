"""Dockerfile and compose.yaml, run step by step without Docker, with a real PostgreSQL and Redis."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from django.conf import settings

from config.management.commands.serve import GRANIAN
from tests.databases import CHECKOUT, installation
from tests.system.image import Build, context_files, exec_form, ignored, inside, locked
from tests.system.live import Client, lasting_port, listens, wait_until
from tests.threads import HANGS_SECONDS
from tests.throwaway import redis

pytestmark = pytest.mark.once

COMPOSE = yaml.safe_load((CHECKOUT / "compose.yaml").read_text())
CHOSEN = {"CUSTODY_VAULT": "filesystem"}  # the variables that an administrator sets for compose.yaml
OURS = ("migrate", "web", "worker", "custody", "letters", "storage", "poller", "beat")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Build the image, running every COPY and RUN of the Dockerfile."""
    return Build(CHECKOUT, tmp_path_factory.mktemp("image"))


class Running:
    """The services of compose.yaml as processes: same commands and environments, other hosts, ports and paths."""

    def __init__(self, build: Build, database_url: str, redis_url: str, key: str) -> None:
        self.image, self.port = build.stages[-1], lasting_port()
        self.database_url, self.redis_url, self.key = database_url, redis_url, key
        self.secrets = self.image.root / "run/secrets"
        self.secrets.mkdir(parents=True)
        (self.image.root / "tmp").mkdir()
        shutil.move(self.image.root / "data/keys/master_key", self.secrets / "master_key")
        (self.image.root / "data/keys").rmdir()
        for name, content in {
            "database_url": database_url, "email_url": f"filemail:///{self.image.root}/mail",
        }.items():  # fmt: skip
            (self.secrets / name).write_text(content)
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def mapped(self, text: str) -> str:
        text = re.sub(r"\$\{(\w+):-([^}]*)\}", lambda match: CHOSEN.get(match[1], match[2]), text)
        text = inside(self.image, text).replace("redis://redis:6379/0", self.redis_url)
        return re.sub(r"\b8000\b", str(self.port), text)

    def environment(self, service: str) -> dict[str, str]:
        asked = COMPOSE["services"][service]["environment"]
        return self.image.environment | {name: self.mapped(str(value)) for name, value in asked.items()}

    def command(self, service: str) -> list[str]:
        default = exec_form(self.image.settings["CMD"])
        command = COMPOSE["services"][service].get("command", default)
        words = [self.mapped(word).replace("0.0.0.0", "127.0.0.1") for word in command]
        if "--workers" in words:  # one web worker is enough for the tests
            words[words.index("--workers") + 1] = "1"
        return words

    def health_command(self, service: str) -> list[str]:
        """Return the health check of the service, or of the image."""
        test = COMPOSE["services"][service].get("healthcheck", {}).get("test")
        if test is None:
            return [self.mapped(word) for word in exec_form(self.image.settings["HEALTHCHECK"])]
        words = [self.mapped(word).replace("$$", "$") for word in test[1:]]
        return words if test[0] == "CMD" else ["/bin/sh", "-c", *words]

    def start(self, service: str) -> subprocess.Popen[bytes]:
        with self.log(service).open("wb") as log:
            self.processes[service] = subprocess.Popen(
                self.command(service), cwd=self.image.root / "app", env=self.environment(service),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        return self.processes[service]

    def healthy(self, service: str) -> bool:
        name = {"HOSTNAME": os.uname().nodename}
        done = subprocess.run(
            self.health_command(service), cwd=self.image.root / "app", env=self.environment(service) | name,
            capture_output=True, stdin=subprocess.DEVNULL, timeout=HANGS_SECONDS,
        )  # fmt: skip
        return done.returncode == 0

    def log(self, service: str) -> Path:
        return self.image.root / f"{service}.log"

    def end(self) -> None:
        for process in self.processes.values():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@pytest.fixture(scope="module")
def services(built: Build) -> Iterator[Running]:
    """Prepare the services, with migrated tables and an organization, which are slow to create."""
    data = built.stages[-1].root / "data"
    with installation(None, data, CHOSEN["CUSTODY_VAULT"]) as (url, key), redis() as queue:
        running = Running(built, url, queue, key)
        try:
            yield running
        finally:
            running.end()


@pytest.mark.postgresql
def test_the_services_start_in_order_work_together_and_end_on_request(services: Running):
    migrated = services.start("migrate").wait(HANGS_SECONDS)
    assert migrated == 0, services.log("migrate").read_text()
    for service in ("web", "worker", "custody", "letters", "storage", "poller", "beat"):
        services.start(service)
    wait_until(lambda: listens(services.port), "the web server listens")
    with Client(services.port, services.key) as client:
        wait_until(lambda: client.get("/readyz").status == 200, "everything is ready")
        for service in ("web", "worker", "custody", "letters", "storage", "poller", "beat"):
            wait_until(lambda service=service: services.healthy(service), f"{service} is healthy")
        take_a_record(services, client)
        the_worker_finishes_what_was_reserved(services, client)
    for service in ("beat", "poller", "storage", "letters", "custody", "worker", "web"):
        services.processes[service].terminate()
        assert services.processes[service].wait(HANGS_SECONDS) == 0, services.log(service).read_text()
        assert "Traceback" not in services.log(service).read_text()
    assert not listens(services.port)


def take_a_record(services: Running, client: Client) -> None:
    assert client.ingest(b'{"decision_id": "in-a-container"}').status == 201
    assert client.get("/static/admin/css/base.css").status == 200
    assert not (services.image.root / "data/keys").exists(), "the master key stays outside the volume"


def the_worker_finishes_what_was_reserved(services: Running, client: Client) -> None:
    """Remove the vault during an ingest, and wait until the worker reconciles the record."""
    vault, elsewhere = services.image.root / "data/vault", services.image.root / "data/elsewhere"
    vault.rename(elsewhere)
    vault.touch()
    assert client.ingest(b'{"decision_id": "left"}').status == 503
    vault.unlink()
    elsewhere.rename(vault)
    with psycopg.connect(services.database_url, autocommit=True) as database:
        database.execute("UPDATE custody_waitingobject SET lease_until = '2000-01-01'")
    wait_until(lambda: client.get("/v1/decisions/left").json()["custody"] == "stored", "the worker has reconciled")
    assert client.get("/v1/decisions/left/record").body == b'{"decision_id": "left"}'


def test_the_environment_has_all_dependencies(built: Build):
    image = built.stages[-1]
    command = [sys.executable, "-m", "pip", "--python", image.root / "venv/bin/python", "check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_image_and_this_environment_install_files_with_the_same_hashes():
    assert locked(CHECKOUT / "requirements.lock").items() <= locked(CHECKOUT / "requirements-dev.lock").items()


def test_the_image_has_the_program_and_no_other_files(built: Build):
    app = built.stages[-1].root / "app"
    assert {path.name for path in app.iterdir()} - {"__pycache__"} == {
        "requirements.lock", "manage.py", "config", "accounts", "custody", "decisions", "notices", "connectors",
        "retention", "templates", "static", "locale",
    }  # fmt: skip
    assert (app / "static/admin/css/base.css").is_file()
    assert {path for path in context_files(CHECKOUT, ".") if path.suffix == ".py"} == {
        path.relative_to(app) for path in app.rglob("*.py")
    }
    assert not (built.stages[-1].root / "build").exists()
    assert not list(app.rglob("master_key"))


def test_any_user_can_read_the_program(built: Build):
    app = built.stages[-1].root / "app"
    assert not [path for path in app.rglob("*") if not path.stat().st_mode & (0o005 if path.is_dir() else 0o004)]


@pytest.mark.parametrize(
    "path",
    [".git/config", "var/keys/master_key", "secrets/master_key", ".env", "tests/conftest.py", "samples/README.md",
     "config/__pycache__/x.cpython-311.pyc", "custody/vaults/__pycache__/x.pyc", "README.md"],
)  # fmt: skip
def test_keys_data_history_and_caches_stay_out_of_the_build(path):
    patterns = (CHECKOUT / ".dockerignore").read_text().splitlines()
    assert ignored(Path(path), [line for line in patterns if line and not line.startswith("#")])


def test_every_application_of_the_settings_is_copied():
    copied = {str(path.parent) for path in context_files(CHECKOUT, ".") if path.name == "apps.py"}
    assert copied == {str(path.parent.relative_to(CHECKOUT)) for path in CHECKOUT.glob("*/apps.py")}


def test_the_image_runs_as_a_numbered_user_other_than_root(built: Build):
    settings = built.stages[-1].settings
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", settings["USER"])
    assert settings["VOLUME"] == built.stages[-1].environment["DATA_DIR"].removeprefix(str(built.stages[-1].root))
    assert settings["EXPOSE"] in json.loads(settings["CMD"])


@pytest.mark.parametrize("name", OURS)
def test_our_services_write_only_to_their_data_and_gain_no_privileges(name):
    service = COMPOSE["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service


def test_neither_the_file_nor_an_environment_has_a_secret():
    def texts(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            for name, value in node.items():
                yield f"{name}={value}" if isinstance(value, str) else ""
                yield from texts(value)

    for name in OURS:
        secret = {"MASTER_KEY", "SECRET_KEY", "DATABASE_URL", "EMAIL_URL", "POSTGRES_PASSWORD"}
        assert not secret & set(COMPOSE["services"][name]["environment"])
    assert not [text for text in texts(COMPOSE) if re.search(r"://\w+:\w+@|PASSWORD=", text)]
    assert set(COMPOSE["secrets"]) == {
        s for service in COMPOSE["services"].values() for s in service.get("secrets", [])
    }


def test_the_workers_have_the_same_queues_as_under_serve():
    for name, queues in settings.WORKER_QUEUES.items():
        command = COMPOSE["services"][name]["command"]
        assert command[command.index("--queues") + 1].split(",") == list(queues)


def test_the_web_server_has_the_same_command_as_under_serve(built: Build):
    command = ["python", "-m", *GRANIAN]
    assert exec_form(built.stages[-1].settings["CMD"])[: len(command)] == command
    assert COMPOSE["services"]["web"]["sysctls"] == {"net.ipv4.tcp_migrate_req": 1}


def test_only_the_services_reach_database_and_queue():
    for name in ("postgres", "redis"):
        service = COMPOSE["services"][name]
        assert "ports" not in service
        assert service["networks"] == ["inside"]
    assert COMPOSE["networks"]["inside"]["internal"] is True
    assert all(port.startswith("127.0.0.1:") for port in COMPOSE["services"]["web"]["ports"])


def test_every_service_waits_for_its_dependencies_restarts_and_has_a_health_check():
    for name, service in COMPOSE["services"].items():
        assert service["restart"] in ("unless-stopped", "on-failure")
        for other, wait in service.get("depends_on", {}).items():
            watched = COMPOSE["services"][other].get("healthcheck", {})
            expected = "service_completed_successfully" if other == "migrate" else "service_healthy"
            assert wait["condition"] == expected
            assert other == "migrate" or "test" in watched
        assert name in ("web", "migrate") or "test" in service["healthcheck"]


def test_named_volumes_hold_all_persistent_data():
    mounted = {v for service in COMPOSE["services"].values() for v in service.get("volumes", [])}
    assert mounted == {"data:/data", "postgres:/var/lib/postgresql/data"}
    assert set(COMPOSE["volumes"]) == {"data", "postgres"}
