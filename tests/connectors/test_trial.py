"""Tests of a source and previews of a map: they end in time and save nothing."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.apps import apps

from accounts import callers
from connectors import services
from connectors.kinds.base import SourceFault
from connectors.services import trial
from tests.connectors.test_api import _source, steps, try_out
from tests.system.live import wait_until
from tests.threads import HANGS_SECONDS

__all__ = ["_source"]
pytestmark = pytest.mark.django_db


def snapshot():
    return [sorted(map(str, model._base_manager.values_list())) for model in apps.get_models()]


def test_a_test_reads_one_item_and_saves_nothing(api, feed):
    before = snapshot()
    answer = try_out(api)
    assert answer.json()["ok"] is True
    steps_by_name = steps(answer)
    assert list(steps_by_name) == ["configuration", "listed", "sample"]
    assert "loan-1" in steps_by_name["sample"]["detail"]
    after = snapshot()
    keys = [i for i, model in enumerate(apps.get_models()) if model.__name__ == "ApiKey"]
    assert [b for i, b in enumerate(before) if i not in keys] == [a for i, a in enumerate(after) if i not in keys]


def test_a_test_names_the_failed_step_and_its_fix(api, feed):
    def fail(number):
        raise SourceFault("The bucket is not there.", fix="Check its name.")

    feed.before = fail
    answer = try_out(api)
    assert answer.json()["ok"] is False
    assert answer.json()["steps"][-1] == {
        "name": "reading",
        "ok": False,
        "detail": "The bucket is not there.",
        "fix": "Check its name.",
        "warns": False,
    }
    feed.before = lambda number: None
    feed.items[0] = b'{"id": "Jane Roe"}'
    sample = steps(try_out(api))["sample"]
    assert (sample["ok"], "decision_id" in sample["detail"], "Jane" in sample["detail"]) == (False, True, False)
    assert steps(try_out(api, config={"map": {"fields": {"decision_id": "/id"}}}))["sample"]["ok"] is True
    missing = steps(try_out(api, secret_ref="env:DRS_SECRET_NONE", config={"needs_secret": True}))
    assert missing["secret"]["ok"] is False


def test_a_test_ends_when_its_time_is_over_and_one_runs_at_a_time(api, feed, monkeypatch):
    monkeypatch.setattr(trial, "SECONDS", 0.5)
    held = threading.Event()
    feed.before = lambda number: held.wait(HANGS_SECONDS)
    answer = try_out(api)  # while the first test holds the source
    assert steps(answer)["time"]["ok"] is False
    busy = try_out(api)
    assert (busy.status_code, "Retry-After" in busy.headers) == (429, True)
    held.set()
    feed.before = lambda number: None
    monkeypatch.setattr(trial, "SECONDS", HANGS_SECONDS)
    assert wait_until(lambda: answered(try_out(api)), "its place is free again").json()["ok"] is True


def answered(answer):
    return answer if answer.status_code == 200 else None


def test_two_tests_run_at_once_in_a_process_and_no_third(api, feed, monkeypatch):
    monkeypatch.setattr(trial, "SECONDS", HANGS_SECONDS)
    held, begun = threading.Event(), threading.Semaphore(0)
    feed.before = lambda number: (begun.release(), held.wait(HANGS_SECONDS))
    others_callers = [callers.system(uuid.uuid4()) for _ in range(2)]
    with ThreadPoolExecutor(2) as others:
        running = [
            others.submit(services.try_source, caller=caller, kind="directory", config={}) for caller in others_callers
        ]
        for _ in running:
            assert begun.acquire(timeout=HANGS_SECONDS)
        busy = try_out(api)
        assert busy.status_code == 429
        assert int(busy.headers["Retry-After"]) > 0
        assert "Try again" in busy.json()["detail"]
        held.set()
        assert all(test.result().ok for test in running)
    feed.before = lambda number: None
    assert try_out(api).json()["ok"] is True


def test_a_map_is_previewed_on_one_item_byte_for_byte(api):
    body = b'{"map": {"fields": {"decision_id": "/id"}}, "item": {"id": 7,  "amount": 1.50}}'
    assert api.post("/v1/connectors/preview", body).json() == {
        "decision_id": "7",
        "record": '{"decision_id":"7","original":{"id": 7,  "amount": 1.50}}',
        "problems": [],
    }
    nothing = api.post("/v1/connectors/preview", b'{"map": {"fields": {"decision_id": "/id"}}, "item": {}}').json()
    assert nothing["record"] is None
    assert "nothing at /id" in nothing["problems"][0]
    for wrong, where in (
        (b'{"map": {"fields": {}}, "item": {}}', ["body", "map"]),
        (b'{"map": {"fields": {"decision_id": "id"}}, "item": {}}', ["body", "map", "fields", "decision_id"]),
        (b'{"map": {"fields": {"decision_id": "/id"}}, "item": []}', ["body", "item"]),
        (b'{"item": {}}', ["body", "map"]),
    ):
        refused = api.post("/v1/connectors/preview", wrong)
        assert refused.status_code == 422
        assert [error["loc"] for error in refused.json()["detail"]] == [where]


def test_an_empty_source_is_a_warning_for_its_prefix_may_be_mistyped(api, feed):
    feed.items.clear()
    answer = try_out(api)
    sample = steps(answer)["sample"]
    assert (answer.json()["ok"], sample["ok"], sample["warns"]) == (True, True, True)
    assert "prefix" in sample["fix"]
