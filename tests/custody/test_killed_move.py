"""A move that is killed at any request can be resumed. Each record stays readable and exists once."""

import os
import signal

import pytest
from django.conf import settings
from django.core.management import call_command

from custody.models import Entry
from tests.support.forks import MANAGE, Service
from tests.threads import HANGS_SECONDS

pytestmark = [pytest.mark.once, pytest.mark.slow]

COUNT = 20


def test_kill_9_during_a_move_loses_and_doubles_no_record(
    shared_database, organization, api_for, storage_of, use_storage, capsys, tmp_path
):
    api = api_for(organization)
    receipts = {number: api.ingest({"decision_id": f"loan-{number}"}).json() for number in range(COUNT)}
    storage = storage_of("gcp")
    use_storage(organization, storage)
    environment = {
        **os.environ,
        "DATABASE_URL": shared_database,
        "DATA_DIR": str(settings.DATA_DIR),
        "ALLOWED_PRIVATE_HOSTS": "localhost",
        "TRUSTED_CA_FILE": settings.TRUSTED_CA_FILE,
    }
    service = Service("django", environment, tmp_path / "log")
    answer, moved = storage.front.answer, 0
    # After its fifth put took effect, and while it reads back the copies of the first run.
    for method, count in (("POST", 5), ("GET", 9)):
        seen, running = [], []

        def kill(request, running=running, method=method, count=count, seen=seen):
            reply = answer(request)
            if request.method == method and "/b/records/" in request.path:
                seen.append(request)
                if len(seen) == count:
                    os.kill(running[0].pid, signal.SIGKILL)
            return reply

        storage.front.answer = kill
        printed = tmp_path / "printed"
        running.append(service.fork(MANAGE, ["custody_move", "--organization", organization.slug], printed))
        assert running[0].wait(HANGS_SECONDS) == -signal.SIGKILL, printed.read_text()
        storage.front.answer = answer
        for number, receipt in receipts.items():
            assert api.get(f"/v1/decisions/loan-{number}/receipt").json() == receipt
        assert len(set(storage.names())) == len(storage.names())
        moved = Entry.objects.filter(target__provider="gcp").count()
        assert moved < COUNT
    assert len(storage.names()) > 1, "it had begun"
    call_command("custody_move", organization=organization.slug)
    assert f"{COUNT - moved} moved" in capsys.readouterr().out
    assert set(Entry.objects.values_list("target__provider", flat=True)) == {"gcp"}
    assert len(storage.names()) == 1 + COUNT
    for number, receipt in receipts.items():
        assert api.get(f"/v1/decisions/loan-{number}/receipt").json() == receipt
