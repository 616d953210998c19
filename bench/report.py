"""What a part has measured: its figures beside their goals and beside the last results that were kept."""

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
"""How many times worse a figure may be than the kept one before it counts as worse: two runs differ by so much."""
_ROOT = Path(__file__).parent.parent
_PACKAGES = ("django", "psycopg", "granian", "cryptography", "pydantic")
_SCALES = {"/s": 1, "ms": -1, "µs": -1, "s": -1}
"""How a figure of this unit follows the machine's speed; others are the same on every machine."""
_YARDSTICK_SECONDS = 0.3


@dataclass(frozen=True)
class Figure:
    """One number. It is compared with its goal, `at_least` or `at_most`, and with the kept one of the same name.

    Attributes:
        unit: none for a ratio of two figures, of which more is better unless the goal says otherwise.
        reference: somebody else's, such as pgbench's: shown and kept, but ours is neither better nor worse by it.
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

    def shortfall(self, kept: float, faster: float) -> float:
        """How many times worse it is than the kept one, on a machine so many times faster; below 1 it is better."""
        expected = kept * faster ** _SCALES.get(self.unit, 0)
        worse, better = (expected, self.value) if self.more_is_better else (self.value, expected)
        return worse / better if better else 1.0


def middle(name: str, values: Iterable[float], unit: str = "", **more: Any) -> Figure:
    """The figure of several rounds: their median."""
    return Figure(name, median(values), unit, **more)


def ratio(name: str, ours: Sequence[float], others: Sequence[float], **more: Any) -> Figure:
    """The median of what each round's own two figures make."""
    return middle(name, (one / other for one, other in zip(ours, others, strict=True)), **more)


def run(part: str, measure: Callable[[], Iterable[Figure]], *, keep: bool) -> None:
    """Measure a part, show it beside what was kept, and keep it in that one's place."""
    file = RESULTS / f"{part}.json"
    before = _speed()
    figures = list(measure())
    speed = (before + _speed()) / 2
    kept = json.loads(file.read_text()) if file.exists() else {"figures": [], "speed": speed}
    _show(part, figures, {each["name"]: each["value"] for each in kept["figures"]}, speed / kept["speed"])
    if keep:
        RESULTS.mkdir(exist_ok=True)
        result = {"part": part, **_circumstances(), "speed": speed, "figures": [_as_json(each) for each in figures]}
        file.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")


def _show(part: str, figures: list[Figure], kept: Mapping[str, float], faster: float) -> None:
    table = Table("what", "measured", "goal", "", "kept", "", title=part)
    for column in (1, 2, 4):
        table.columns[column].justify = "right"
    worse = []
    for each in figures:
        change = ""
        if each.name in kept and not each.reference and each.shortfall(kept[each.name], faster) > TOLERANCE:
            change = f"worse, {each.shortfall(kept[each.name], faster):.2f} times"
            worse.append(each.name)
        met = {True: "met", False: "short", None: ""}[each.is_met]
        old = _number(kept[each.name]) if each.name in kept else ""
        table.add_row(each.name, f"{_number(each.value)} {each.unit}".strip(), each.goal, met, old, change)
    console = Console(width=130)
    console.print(table)
    if kept:
        said = "No figure is worse than the kept one" if not worse else f"Worse than kept: {'; '.join(worse)}"
        console.print(f"{said}. This computer was {faster:.2f} times as fast as then; times and rates are compared so.")
    if short := [each.name for each in figures if each.is_met is False]:
        console.print(f"Short of the goal: {'; '.join(short)}.")


def _as_json(figure: Figure) -> dict[str, Any]:
    said = {name: value for name, value in asdict(figure).items() if value not in (None, False)}
    return said | {"value": float(f"{figure.value:.5g}")} | ({} if figure.is_met is None else {"met": figure.is_met})


def _circumstances() -> dict[str, Any]:
    """When and of what, and nothing that names the computer."""
    server = ".".join(map(str, divmod(connection.pg_version, 10_000))) if connection.vendor == "postgresql" else ""
    versions = {name: version(name) for name in _PACKAGES} | {"python": platform.python_version()}
    return {
        "commit": _commit(),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "cores": os.cpu_count(),
        "versions": versions | ({"postgresql": server} if server else {}),
    }


def _commit() -> str:
    """The commit that is checked out, with a + if it is not all; nothing outside of a repository."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", _ROOT, *words], capture_output=True, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench/results")
    return git("rev-parse", "--short=12", "HEAD") + ("+" if changed else "")


def _speed() -> float:
    """Of one core of this computer now, by work as ours: rounds a millisecond of JSON and hashes."""
    document = {f"field {n}": f"a text value {n} " * 4 for n in range(100)}
    done, started = 0, time.perf_counter()
    while (taken := time.perf_counter() - started) < _YARDSTICK_SECONDS:
        hashlib.sha256(json.dumps(json.loads(json.dumps(document))).encode()).digest()
        done += 1
    return done / taken / 1000


def _number(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
