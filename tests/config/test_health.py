"""`/healthz`: the process is alive. `/readyz`: which of its parts do not answer."""

import errno
import itertools
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import redis
from django.db import DatabaseError, connection, transaction
from django.test import Client

from custody.models import Key, SealedObject
from custody.vaults import PROBE_BYTES
from custody.vaults.filesystem import MARKER
from tests import throwaway
from tests.custody.faulty_disk import faulty_disk, full_disk
from tests.system.live import server

PARTS = {"database", "broker", "vault", "keys", "journal", "targets", "custody", "connectors"}


def unready(answer) -> set[str]:
    """Return the failing parts of an answer."""
    parts = answer.json()
    assert answer.status_code == (200 if parts.pop("status") == "ok" else 503)
    assert parts.pop("queue_lag_seconds") == 0
    assert parts.pop("connectors_unserved") == []
    assert set(parts) == PARTS
    assert set(parts.values()) <= {"ok", "failing"}
    return {name for name, state in parts.items() if state == "failing"}


@pytest.mark.django_db
def test_a_service_whose_parts_all_answer_is_ready(client, api):
    api.ingest({"decision_id": "x"})
    assert unready(client.get("/readyz")) == set()
    assert client.get("/healthz").json() == {"status": "ok"}


def test_a_process_is_alive_even_if_it_is_not_ready(client, settings):
    settings.DATA_DIR = Path("/nonexistent")
    assert (client.get("/healthz").status_code, client.get("/healthz").json()) == (200, {"status": "ok"})


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_answers_only_get_and_head(path):
    answer = Client(enforce_csrf_checks=True).post(path)
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("address", ["", "drs"])
def test_a_service_without_a_database_address_refuses_to_start(address):
    loading = [sys.executable, "-W", "ignore", "-c", "import config.settings"]
    refused = subprocess.run(loading, env=os.environ | {"DATABASE_URL": address}, capture_output=True, text=True)
    assert refused.stderr.endswith("DATABASE_URL names no database: write postgres://user:password@host/name\n")


@pytest.mark.django_db
@pytest.mark.parametrize("with_a_record", [True, False])
def test_a_secret_that_cannot_be_unwrapped_makes_the_service_unready(client, api_without_keys, settings, with_a_record):
    api = api_without_keys
    if with_a_record:
        api.ingest({"decision_id": "x"})
    right, settings.MASTER_KEYS = settings.MASTER_KEYS, [os.urandom(32)]
    answer = client.get("/readyz")
    settings.MASTER_KEYS = right
    assert unready(answer) == {"keys"}
    assert api.organization.id.hex not in answer.content.decode()
    assert Key.objects.filter(organization=api.organization).exists() == with_a_record
    assert unready(client.get("/readyz")) == set()


@pytest.mark.django_db
def test_a_vault_without_its_directory_makes_the_service_unready(client, api, filesystem_vault):
    assert unready(client.get("/readyz")) == set()
    shutil.rmtree(filesystem_vault)
    assert unready(client.get("/readyz")) == {"vault"}


@contextmanager
def a_full_database():
    """Fill SQLite's file and stop it from growing."""
    with connection.cursor() as cursor:
        (pages,) = cursor.execute("PRAGMA page_count").fetchone()
        cursor.execute(f"PRAGMA max_page_count = {pages}")
        with suppress(DatabaseError):
            for number in itertools.count():
                with transaction.atomic():
                    SealedObject.objects.create(key=f"filling/{number}", body=bytes(PROBE_BYTES))
        yield
        cursor.execute("PRAGMA max_page_count = 1073741823")


@contextmanager
def a_read_only_database():
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL transaction_read_only = on")  # until the test's transaction ends
            yield
        else:
            cursor.execute("PRAGMA query_only = on")
            yield
            cursor.execute("PRAGMA query_only = off")


@pytest.mark.django_db(transaction=True)
@pytest.mark.sqlite  # a full disk would end PostgreSQL's server
def test_a_full_database_makes_the_service_unready(client, api):
    api.ingest({"decision_id": "x"})
    with a_full_database():
        assert unready(client.get("/readyz")) == {"vault"}
    assert unready(client.get("/readyz")) == set()


@pytest.mark.django_db
def test_a_read_only_database_makes_the_service_unready(client):
    with a_read_only_database():
        assert unready(client.get("/readyz")) == {"vault"}


@pytest.mark.django_db
def test_a_full_disk_makes_the_service_unready_until_it_has_space(client, filesystem_vault):
    with full_disk(filesystem_vault):
        assert unready(client.get("/readyz")) == {"vault"}
    with faulty_disk(filesystem_vault) as disk:
        assert unready(client.get("/readyz")) == set()
    with faulty_disk(filesystem_vault, disk.calls.index("unlink"), errno.EROFS):
        assert unready(client.get("/readyz")) == {"vault"}
    assert unready(client.get("/readyz")) == set()


@pytest.mark.django_db
def test_a_vault_without_its_marker_makes_the_service_unready(client, filesystem_vault):
    (filesystem_vault / MARKER).unlink()
    assert unready(client.get("/readyz")) == {"vault"}


@pytest.mark.django_db
def test_the_answer_does_not_say_why_a_part_fails(client, filesystem_vault):
    shutil.rmtree(filesystem_vault)
    answer = client.get("/readyz")
    assert answer.json()["vault"] == "failing"
    assert str(filesystem_vault) not in answer.content.decode()


@pytest.mark.boots
def test_a_broker_outage_makes_the_service_unready_but_records_are_accepted():
    with throwaway.redis() as queue:
        address = queue.removesuffix("/0")
        with server(REDIS_URL=queue) as live, live.client() as client:
            assert client.get("/readyz").status == 200
            redis.Redis.from_url(address).shutdown(nosave=True)
            answer = client.get("/readyz")
            assert (answer.status, answer.json()["broker"]) == (503, "failing")
            assert client.ingest(b'{"decision_id": "x"}').status == 201
            assert client.get("/healthz").status == 200
            # A wake-up that cannot be sent must not fail the request.
            asked = client.request("POST", "/v1/auth/otp/request", b'{"email": "owner@live.example"}')
            assert asked.status == 200


@pytest.mark.boots
def test_a_database_without_tables_makes_the_service_unready(tmp_path):
    with server() as live, live.client() as client:
        live.sql("ALTER TABLE django_migrations RENAME TO hidden")
        assert client.get("/readyz").json()["database"] == "failing"
        live.sql("ALTER TABLE hidden RENAME TO django_migrations")
        assert client.get("/readyz").status == 200
