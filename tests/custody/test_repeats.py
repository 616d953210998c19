"""Repeated records are compared with those in a remote vault, several at a time."""

import threading

import pytest

from accounts import callers
from custody.vaults.filesystem import FilesystemVault
from decisions import services
from tests.threads import HANGS_SECONDS

pytestmark = pytest.mark.django_db


def statuses(organization, lines):
    caller = callers.system(organization.pk)
    return [line.status for line in services.ingest_lines(caller=caller, lines=lines, source="bulk")]


def test_repeats_are_read_from_the_vault_in_parallel(organization, filesystem_vault, monkeypatch):
    lines = [b'{"decision_id": "loan-%d"}' % number for number in range(6)]
    assert set(statuses(organization, lines)) == {"created"}
    both, get = threading.Barrier(2), FilesystemVault.get

    def waits_for_another(vault, key):
        both.wait(HANGS_SECONDS)
        return get(vault, key)

    monkeypatch.setattr(FilesystemVault, "get", waits_for_another)
    lines[5] = b'{"decision_id": "loan-5", "other": true}'
    assert statuses(organization, lines) == [*["replayed"] * 5, "conflict"]


def test_an_unreadable_object_affects_no_other_repeat(organization, filesystem_vault, monkeypatch):
    lines = [b'{"decision_id": "loan-%d"}' % number for number in range(4)]
    statuses(organization, lines)
    lost = next(path for path in filesystem_vault.rglob("records/*/*") if path.is_file())
    lost.unlink()
    assert sorted(statuses(organization, lines)) == ["replayed", "replayed", "replayed", "unavailable"]
