"""Polls of a folder, end to end: each record of a file comes once, whatever happens to the file."""

import gzip
import json
import os
import time

import pytest
from django.utils import timezone

from connectors import services
from connectors.models import Connector, Quarantined
from connectors.services import unserved
from decisions.models import Decision
from tests.connectors.bombs import bomb

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path, settings):
    settings.CONNECTOR_DIRECTORIES = [str(tmp_path)]
    made = tmp_path / "loans"
    made.mkdir()
    return made


@pytest.fixture
def source_id(api, folder):
    settings = {"kind": "directory", "name": "Loans", "config": {"path": str(folder)}, "schedule_seconds": 86400}
    answer = api.post("/v1/connectors", json.dumps(settings).encode())
    assert answer.json()["problems"] == [], answer.content
    return answer.json()["source_id"]


def put(folder, name, content):
    """Write a file that is a minute old."""
    (folder / name).write_bytes(content)
    minute_ago = time.time() - 60
    os.utime(folder / name, (minute_ago, minute_ago))


def lines(*ids):
    return b"".join(b'{"decision_id": "%s"}\n' % decision_id.encode() for decision_id in ids)


def poll():
    Connector.objects.update(next_poll_at=timezone.now())
    services.poll_due()
    return sorted(Decision.objects.values_list("decision_id", flat=True))


def test_files_of_every_format_become_records(api, folder, source_id):
    put(folder, "a.ndjson", lines("a-1", "a-2"))
    put(folder, "b.json", b'[{"decision_id": "b-1", "amount": 1.50}]')
    put(folder, "c.json", json.dumps({"decision_id": "c-1"}, indent=2).encode())
    put(folder, "d.ndjson.gz", gzip.compress(lines("d-1")))
    assert poll() == ["a-1", "a-2", "b-1", "c-1", "d-1"]
    assert api.get("/v1/decisions/b-1/record").content == b'{"decision_id": "b-1", "amount": 1.50}'
    shown = api.get(f"/v1/connectors/{source_id}").json()
    assert shown["records"] == {"seen": 5, "new": 5, "repeated": 0, "quarantined": 0}
    assert poll() == ["a-1", "a-2", "b-1", "c-1", "d-1"]
    assert api.get(f"/v1/connectors/{source_id}").json()["records"]["seen"] == 5


def test_a_file_that_arrives_with_an_old_time_or_grows_is_read(folder, source_id):
    put(folder, "b.ndjson", lines("b-1"))
    poll()
    put(folder, "a.ndjson", lines("a-1"))
    os.utime(folder / "a.ndjson", (1, 1))
    put(folder, "b.ndjson", lines("b-1", "b-2"))
    assert poll() == ["a-1", "b-1", "b-2"]


def test_a_bad_line_is_fixed_and_retried(api, folder, source_id):
    put(folder, "a.ndjson", lines("a-1") + b'{"decision_id": \n' + lines("a-3"))
    assert poll() == ["a-1", "a-3"]
    (item,) = api.get(f"/v1/connectors/{source_id}/quarantine").json()["items"]
    assert item["position"] == "a.ndjson, item 2"
    api.post(f"/v1/connectors/{source_id}/quarantine/retry", b"{}")
    assert poll() == ["a-1", "a-3"]
    assert Quarantined.objects.count() == 1, "it is as bad as before"
    put(folder, "a.ndjson", lines("a-1", "a-2", "a-3"))
    api.post(f"/v1/connectors/{source_id}/quarantine/retry", b"{}")
    assert poll() == ["a-1", "a-2", "a-3"]
    assert not Quarantined.objects.exists()


def test_a_gzip_bomb_is_one_item_in_quarantine_and_the_other_files_come(folder, source_id):
    put(folder, "a.json.gz", bomb(300))
    put(folder, "b.ndjson", lines("b-1"))
    assert poll() == ["b-1"]
    assert "read no further" in Quarantined.objects.get().reason


def test_a_test_names_what_is_wrong_with_a_folder(api, folder):
    def steps(**config):
        body = json.dumps({"kind": "directory", "name": "x", "config": config}).encode()
        return api.post("/v1/connectors/test", body).json()

    put(folder, "a.ndjson", lines("a-1"))
    assert steps(path=str(folder))["ok"] is True
    for config in ({}, {"path": "/etc"}, {"path": f"{folder}/../.."}):
        assert steps(**config)["steps"][0]["name"] == "configuration"
        assert steps(**config)["ok"] is False
    missing = steps(path=f"{folder}/missing")
    assert (missing["ok"], missing["steps"][-1]["name"]) == (False, "listed")
    assert missing["steps"][-1]["fix"]


def test_a_mount_that_one_machine_lacks_is_no_failure_of_the_connector(folder, source_id, settings, tmp_path):
    """A missing folder is a fault of the machine only if it was read before; otherwise its path may be mistyped."""
    put(folder, "a.ndjson", lines("loan-1"))
    assert poll() == ["loan-1"]
    folder.rename(tmp_path / "gone")
    poll()
    assert Connector.objects.get().failures == 0
    assert unserved.source_ids() == [source_id]
    unserved._pauses.clear()
    Connector.objects.update(caught_up_at=None)
    poll()
    assert Connector.objects.get().failures == 1
    settings.CONNECTOR_DIRECTORIES = []
    poll()
    assert Connector.objects.get().failures == 1
