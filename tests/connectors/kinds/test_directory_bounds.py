"""Bounds of folders: endless files, endless lines and short deadlines."""

import os
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from connectors import formats
from connectors.kinds.directory import files
from connectors.kinds.directory.files import Files
from tests.connectors.kinds.test_directory import folder, items, lines, put, reader
from tests.support.reader import Reader

__all__ = ["folder", "reader"]
pytestmark = pytest.mark.once


def sparse(path: Path, size: int, start: bytes = b"", age: float = 60) -> None:
    os.truncate(put(path, start), size)
    os.utime(path, (time.time() - age,) * 2)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the sizes of the chunks read from files."""
    sizes: list[int] = []
    real = files._chunks

    def chunks(descriptor: int) -> Iterator[bytes]:
        for chunk in real(descriptor):
            sizes.append(len(chunk))
            assert sum(sizes) < 2**30
            yield chunk

    monkeypatch.setattr(files, "_chunks", chunks)
    return sizes


@pytest.mark.parametrize("age", [0, 60])
def test_a_file_without_an_end_is_one_bad_item_and_the_others_are_read(
    folder: Path, reader: Reader, monkeypatch: pytest.MonkeyPatch, counted: list[int], age: float
) -> None:
    monkeypatch.setattr(formats, "MAX_BARREN_BYTES", 4 * 2**20)
    sparse(folder / "a.ndjson", 2**42, lines(1), age)
    put(folder / "b.ndjson", lines(2))
    first, bad, last = reader.items()
    assert (first.raw, bool(bad.problem), last.raw) == (*items(1), True, *items(2))
    assert sum(counted) < 8 * 2**20
    assert len(reader.ledger) == (2 if age else 1)


def test_reading_a_file_ends_at_the_deadline_though_no_item_comes(
    folder: Path, reader: Reader, counted: list[int]
) -> None:
    sparse(folder / "a.ndjson", 2**42)
    fault = reader.fault(seconds=0)
    assert fault.cause == "transient"
    assert "a.ndjson took too long" in fault.sentence
    assert len(counted) <= 2


def test_items_before_a_file_that_takes_too_long_are_kept(
    folder: Path, reader: Reader, monkeypatch: pytest.MonkeyPatch, counted: list[int]
) -> None:
    put(folder / "b.ndjson", b"".join(b'{"decision_id":"%d","x":"%s"}\n' % (n, b"x" * 2000) for n in range(1000)))
    assert len(reader.poll(max_batches=1)) == 500
    place = reader.cursor["object"]
    put(folder / "a.json", items(1)[0])
    del counted[:]
    real = Files.chunks

    def chunks(self: Files, thing: Any) -> Any:
        if thing.name == "b.ndjson":
            self._source.deadline = 0
        return real(self, thing)

    with monkeypatch.context() as patch:
        patch.setattr(Files, "chunks", chunks)
        assert "b.ndjson took too long" in reader.fault().sentence
    assert len(counted) <= 3
    assert [entry.name for entry in reader.ledger] == ["a.json"]
    assert reader.cursor["object"] == place
    assert len(reader.poll()) == 500


def test_an_unfinished_line_holds_no_more_memory_than_an_item() -> None:
    tracemalloc.start()
    try:
        made = sum(len(chunk) for chunk in files._whole_lines(bytes(2**18) for _ in range(400)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert made > 90 * 2**20  # a line that is already too long is passed on and counted
    assert peak < 6 * 2**20
