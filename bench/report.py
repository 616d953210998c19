"""Reports of a part: its figures, compared with their goals and with the last results."""

import hashlib
import json
import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

from django.db import connection
from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).with_name("results")
TOLERANCE = 1.25
"""How many times worse than the last result a figure may be. Two runs of the same code differ by as much."""
_ROOT = Path(__file__).parent.parent
_PACKAGES = ("django", "psycopg", "granian", "cryptography", "pydantic")
_SCALES = {"/s": 1, "ms": -1, "µs": -1, "s": -1}
"""The exponent of the machine's speed in the figures of a unit. Other units do not depend on the machine."""
_YARDSTICK_SECONDS = 0.3


@dataclass(frozen=True)
class Figure:
    """A measured number. It is compared with its goal, `at_least` or `at_most`, and with the last result of its name.

    Attributes:
        unit: empty for a ratio of two figures. Of a ratio, more is better unless it has a goal `at_most`.
        reference: a figure of another program, such as pgbench. It is shown and stored, but never counts as worse.
    """

    name: str
    value: float
    unit: str = ""
    at_least: float | None = None
    at_most: float | None = None
    reference: bool = False

    @property
    def goal(self) -> str:
        if self.at_least is not None:
            return f"≥ {self.at_least:,g} {self.unit}".strip()
        return f"≤ {self.at_most:,g} {self.unit}".strip() if self.at_most is not None else ""

    @property
    def is_met(self) -> bool | None:
        if self.at_least is not None:
            return self.value >= self.at_least
        return self.value <= self.at_most if self.at_most is not None else None

    @property
    def more_is_better(self) -> bool:
        return self.at_most is None and self.unit in ("", "/s")

    def shortfall(self, last: float, faster: float) -> float:
        """Return how many times worse the figure is than the last result, on a machine `faster` times as fast. Below 1
        it is better."""
        expected = last * faster ** _SCALES.get(self.unit, 0)
        worse, better = (expected, self.value) if self.more_is_better else (self.value, expected)
        return worse / better if better else 1.0


def middle(name: str, values: Iterable[float], unit: str = "", **more: Any) -> Figure:
    """Return the median of several rounds as a figure."""
    return Figure(name, median(values), unit, **more)


def ratio(name: str, ours: Sequence[float], others: Sequence[float], **more: Any) -> Figure:
    """Return the median of the ratios of the rounds."""
    return middle(name, (one / other for one, other in zip(ours, others, strict=True)), **more)


def run(part: str, measure: Callable[[], Iterable[Figure]], *, keep: bool) -> None:
    """Measure a part, compare it with the last results, and replace them if `keep`."""
    file = RESULTS / f"{part}.json"
    before = _speed()
    figures = list(measure())
    speed = (before + _speed()) / 2
    last = json.loads(file.read_text()) if file.exists() else {"figures": [], "speed": speed}
    _show(part, figures, {figure["name"]: figure["value"] for figure in last["figures"]}, speed / last["speed"])
    if keep:
        RESULTS.mkdir(exist_ok=True)
        result = {"part": part, **_circumstances(), "speed": speed, "figures": [_as_json(figure) for figure in figures]}
        file.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")


def _show(part: str, figures: list[Figure], last: Mapping[str, float], faster: float) -> None:
    table = Table("what", "measured", "goal", "", "last", "", title=part)
    for column in (1, 2, 4):
        table.columns[column].justify = "right"
    worse = []
    for figure in figures:
        change = ""
        if figure.name in last and not figure.reference and figure.shortfall(last[figure.name], faster) > TOLERANCE:
            change = f"worse, {figure.shortfall(last[figure.name], faster):.2f} times"
            worse.append(figure.name)
        met = {True: "met", False: "short", None: ""}[figure.is_met]
        old = _number(last[figure.name]) if figure.name in last else ""
        table.add_row(figure.name, f"{_number(figure.value)} {figure.unit}".strip(), figure.goal, met, old, change)
    console = Console(width=130)
    console.print(table)
    if last:
        verdict = "No figure is worse than the last" if not worse else f"Worse than the last: {'; '.join(worse)}"
        console.print(f"{verdict}. This computer was {faster:.2f} times as fast; times and rates are corrected for it.")
    if short := [figure.name for figure in figures if figure.is_met is False]:
        console.print(f"Short of the goal: {'; '.join(short)}.")


def _as_json(figure: Figure) -> dict[str, Any]:
    fields = {name: value for name, value in asdict(figure).items() if value not in (None, False)}
    return fields | {"value": float(f"{figure.value:.5g}")} | ({} if figure.is_met is None else {"met": figure.is_met})


def _circumstances() -> dict[str, Any]:
    """Return the commit, the date and the versions of a run, but nothing that names the computer."""
    server = ".".join(map(str, divmod(connection.pg_version, 10_000))) if connection.vendor == "postgresql" else ""
    versions = {name: version(name) for name in _PACKAGES} | {"python": platform.python_version()}
    return {
        "commit": _commit(),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "cores": os.cpu_count(),
        "versions": versions | ({"postgresql": server} if server else {}),
    }


def _commit() -> str:
    """Return the checked-out commit, with a + if files are changed. Empty outside of a repository."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", _ROOT, *words], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench/results")
    return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")


def _speed() -> float:
    """Return the speed of one core of this computer: rounds a millisecond of JSON and hashes, as in our work."""
    document = {f"field {n}": f"a text value {n} " * 4 for n in range(100)}
    done, started = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - started) < _YARDSTICK_SECONDS:
        hashlib.sha256(json.dumps(json.loads(json.dumps(document))).encode()).digest()
        done += 1
    return done / elapsed / 1000


def _number(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
