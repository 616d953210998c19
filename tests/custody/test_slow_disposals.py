"""Disposals behind a slow storage give way to other work, and continue."""

from importlib import import_module
from types import SimpleNamespace

import pytest

from config.periodic import SLICE_SECONDS
from custody import objects, tasks
from custody.models import Disposal, JournalFile
from tests.custody.test_disposals import family, start  # noqa: F401 - a fixture

pytestmark = [pytest.mark.django_db, pytest.mark.once]


def test_slow_disposals_give_way_after_a_slice_and_are_written_into_the_journal_once(
    api,
    filesystem_vault,
    family,  # noqa: F811
    monkeypatch,
):
    seconds, remove = [0.0], objects.remove

    def slow(*arguments):
        seconds[0] += 2 * SLICE_SECONDS
        return remove(*arguments)

    monkeypatch.setattr(objects, "remove", slow)
    disposing = import_module("custody.services.dispose")  # the package exports the function of this name
    monkeypatch.setattr(disposing, "_PARALLEL", 1)
    monkeypatch.setattr(disposing, "time", SimpleNamespace(monotonic=lambda: seconds[0]))
    rows = Disposal.objects.filter(pk__in=[row.pk for row in start(family)])
    woken, finished = [], []
    monkeypatch.setattr(tasks, "wake", woken.append)
    for _ in range(3):
        tasks.finish_disposals()
        finished.append(rows.exclude(finished_at=None).count())
    assert (finished, woken) == ([1, 2, 3], [tasks.finish_disposals.name] * 2)
    assert JournalFile.objects.count() == 1
