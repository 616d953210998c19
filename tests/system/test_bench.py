"""Results of the benchmarks: how they are stored and compared."""

import json
import os
import platform
from pathlib import Path

import pytest

from bench import report
from bench.report import Figure

pytestmark = [pytest.mark.once, pytest.mark.django_db]


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(report, "_YARDSTICK_SECONDS", 0.01)
    return tmp_path


def stored(results):
    return json.loads((results / "part.json").read_text())


def test_a_result_has_commit_and_date_but_names_no_computer_and_no_path(results):
    report.run("part", lambda: [Figure("records", 12345.678, "/s", at_least=10_000)], keep=True)
    result = stored(results)
    assert {"part", "commit", "date", "cores", "versions", "speed", "figures"} == result.keys()
    assert result["figures"] == [{"name": "records", "value": 12346.0, "unit": "/s", "at_least": 10_000, "met": True}]
    written = (results / "part.json").read_text()
    assert platform.node() not in written
    assert str(Path(__file__).parents[2]) not in written
    assert os.environ.get("HOME", "/root") not in written


def test_a_smoke_run_does_not_replace_the_last_result(results):
    report.run("part", lambda: [Figure("share", 0.5)], keep=True)
    report.run("part", lambda: [Figure("share", 0.1)], keep=False)
    assert stored(results)["figures"][0]["value"] == 0.5


def test_a_figure_worse_than_the_last_result_is_named(results, capsys):
    report.run("part", lambda: [Figure("share", 0.5), Figure("growth", 1.0, at_most=1.15)], keep=True)
    report.run("part", lambda: [Figure("share", 0.49), Figure("growth", 2.0, at_most=1.15)], keep=True)
    shown = capsys.readouterr().out
    assert "Worse than the last: growth." in shown
    assert "Short of the goal: growth." in shown


@pytest.mark.parametrize(
    ("figure", "last", "faster", "shortfall"),
    [
        (Figure("share", 0.25), 0.5, 2.0, 2.0),
        (Figure("records", 100, "/s"), 100, 2.0, 2.0),
        (Figure("CPU", 100, "µs"), 100, 2.0, 2.0),
        (Figure("CPU", 50, "µs"), 100, 2.0, 1.0),
        (Figure("memory", 50, "MiB"), 100, 2.0, 0.5),
    ],
)
def test_only_rates_and_times_are_corrected_for_the_speed_of_the_computer(figure, last, faster, shortfall):
    assert figure.shortfall(last, faster) == shortfall


def test_a_goal_is_met_at_its_exact_value():
    assert Figure("share", 0.5, at_least=0.5).is_met
    assert not Figure("share", 0.49, at_least=0.5).is_met
    assert Figure("p99", 60, "ms", at_most=60).is_met
    assert Figure("rate", 1, "/s").is_met is None
