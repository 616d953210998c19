"""Folders: each file is read whole and once, and nothing outside the folder that the operator opened."""

import gzip
import json
import os
import threading
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from connectors.kinds import named_items
from connectors.kinds.directory import KIND
from tests.support.reader import Reader
from tests.threads import HANGS_SECONDS

HALF_A_GZIP = gzip.compress(b'{"decision_id":"d-1"}\n' * 1000, mtime=0)[:60]

pytestmark = pytest.mark.once


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.CONNECTOR_DIRECTORIES = [str(tmp_path / "open")]
    folder = tmp_path / "open" / "bank"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def reader(folder: Path) -> Reader:
    return Reader(KIND, {"path": str(folder)})


def put(path: Path, content: bytes, age: float = 60) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(content)
    os.utime(path, (time.time() - age,) * 2)
    return path


def lines(*numbers: int) -> bytes:
    return b"".join(b'{"decision_id": "d-%d"}\n' % number for number in numbers)


def items(*numbers: int) -> list[bytes]:
    return lines(*numbers).splitlines()


def test_each_format_is_read_and_nothing_is_read_twice(folder: Path, reader: Reader) -> None:
    put(folder / "a.ndjson", lines(1, 2))
    put(folder / "b.json", b'{\n "decision_id": "d-3" }')
    put(folder / "c.json", b'[{"decision_id":"d-4"} , {"decision_id":"d-5"}]')
    put(folder / "d.json.gz", gzip.compress(b'[{"decision_id":"d-6"}]'))
    raw_items = reader.poll()
    assert raw_items[:3] == [*items(1, 2), b'{\n "decision_id": "d-3" }']
    assert [json.loads(raw)["decision_id"] for raw in raw_items[3:]] == ["d-4", "d-5", "d-6"]
    assert reader.poll() == []


def test_a_file_that_is_moved_in_is_read_though_it_is_older_than_all_others(folder: Path, reader: Reader) -> None:
    put(folder / "z.ndjson", lines(1))
    reader.poll()
    put(folder.parent / "elsewhere", lines(2), age=10_000).rename(folder / "a.ndjson")
    assert reader.poll() == items(2)


def test_a_file_that_changes_is_read_again(folder: Path, reader: Reader) -> None:
    put(folder / "a.ndjson", lines(1))
    reader.poll()
    put(folder / "a.ndjson", lines(1, 2), age=30)
    assert reader.poll() == items(1, 2)


def test_a_file_of_the_same_size_and_time_is_read_again_if_it_is_another(folder: Path, reader: Reader) -> None:
    before = put(folder / "a.ndjson", lines(1))
    reader.poll()
    times = (before.stat().st_atime_ns, before.stat().st_mtime_ns)
    other = put(folder.parent / "other", lines(2))
    os.utime(other, ns=times)
    other.rename(before)
    assert reader.poll() == items(2)


def test_only_finished_lines_of_a_growing_file_are_read(folder: Path, reader: Reader) -> None:
    put(folder / "a.ndjson", lines(1) + b'{"decision_id": "d-', age=0)
    assert reader.poll() == items(1)
    assert not reader.ledger
    put(folder / "a.ndjson", lines(1, 2))
    assert reader.poll() == items(1, 2)
    assert len(reader.ledger) == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", b'[{"decision_id":"d-1"}'),
        ("a.json", b'{"decision_id":"d-1"'),
        ("a.ndjson", HALF_A_GZIP),
        ("a.ndjson.gz", HALF_A_GZIP),
    ],
)
def test_a_growing_file_without_lines_waits_until_it_settles(
    folder: Path, reader: Reader, name: str, content: bytes
) -> None:
    put(folder / name, content, age=0)
    assert reader.poll() == []
    assert not reader.ledger


def test_a_last_line_without_its_end_is_read_once_the_file_rests(folder: Path, reader: Reader) -> None:
    put(folder / "a.ndjson", lines(1, 2).rstrip(b"\n"))
    assert reader.poll() == items(1, 2)


def test_a_directory_that_is_written_while_it_is_read_gives_every_record_and_no_half_one(
    folder: Path, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.kinds.directory.files.SETTLED_SECONDS", HANGS_SECONDS)

    def write() -> None:
        for number in range(20):
            with open(folder / f"{number % 7}-{number}.ndjson", "wb", buffering=0) as file:
                for line in lines(*range(number * 50, number * 50 + 50)).splitlines(keepends=True):
                    file.write(line[:10])
                    file.write(line[10:])
            if number % 3 == 0:
                (folder / f"{number % 7}-{number}.ndjson").rename(folder / f"0-moved-{number}.ndjson")

    writer = threading.Thread(target=write)
    writer.start()
    raw_items: list[bytes] = []
    while writer.is_alive():
        raw_items += reader.poll()
    monkeypatch.setattr("connectors.kinds.directory.files.SETTLED_SECONDS", 0)
    raw_items += reader.poll()
    assert set(raw_items) == set(items(*range(1000)))
    assert reader.poll() == []


def test_pipes_links_and_folders_are_skipped(folder: Path, reader: Reader, tmp_path: Path) -> None:
    os.mkfifo(folder / "pipe.ndjson")
    (folder / "folder.ndjson").mkdir()
    (folder / "link.ndjson").symlink_to(put(tmp_path / "private.ndjson", lines(1)))
    assert reader.poll() == []


@pytest.mark.parametrize("path", ["{}/../../private", "/etc", "{}/..", "relative", "", "{}2"])
def test_a_path_outside_is_a_problem_and_is_not_read(folder: Path, tmp_path: Path, path: str) -> None:
    put(tmp_path / "private" / "a.ndjson", lines(1))
    put(tmp_path / "open2" / "a.ndjson", lines(1))
    where = path.format(tmp_path / "open")
    if not where:
        with pytest.raises(ValueError):
            Reader(KIND, {"path": where})
        return
    outside = Reader(KIND, {"path": where})
    assert KIND.check(outside.config)[0].startswith("path: ")
    assert outside.fault().cause == "config"
    assert outside.failed.name == "listed"
    assert "CONNECTOR_DIRECTORIES" in outside.failed.fix


def test_a_folder_that_has_an_organizations_id_for_its_name_is_read_for_that_organization_alone(folder: Path) -> None:
    top, (us, them) = folder.parent, (uuid.uuid4(), uuid.uuid4())
    for owner, number in ((us, 1), (them, 2)):
        put(top / str(owner) / "a.ndjson", lines(number))
    put(folder / "a.ndjson", lines(3))

    def reader_of(path: Path, pattern: str = "*") -> Reader:
        made = Reader(KIND, {"path": str(path), "pattern": pattern})
        made.organization_id = us
        return made

    assert reader_of(top / str(us)).poll() == items(1)
    assert sorted(reader_of(top, "*/*").poll()) == items(1, 3)
    assert "CONNECTOR_DIRECTORIES" in reader_of(top / str(them)).fault().fix


def test_no_link_on_the_way_is_followed(folder: Path, tmp_path: Path) -> None:
    put(tmp_path / "private" / "deep" / "a.ndjson", lines(1))
    (folder / "way").symlink_to(tmp_path / "private")
    assert Reader(KIND, {"path": str(folder / "way")}).fault().cause == "config"
    assert Reader(KIND, {"path": str(folder / "way" / "deep")}).fault().cause == "config"
    assert Reader(KIND, {"path": str(folder), "pattern": "*/*"}).poll() == []
    assert Reader(KIND, {"path": str(folder), "pattern": "way/deep/*"}).poll() == []


def test_a_file_that_becomes_a_link_after_it_was_listed_is_not_read(
    folder: Path, reader: Reader, tmp_path: Path
) -> None:
    private = put(tmp_path / "private.ndjson", lines(13))
    for name in "ab":
        put(folder / f"{name}.ndjson", lines(1))
    reading = KIND.read(reader.source(batch_items=1), {})
    first = next(reading)
    (folder / "b.ndjson").unlink()
    (folder / "b.ndjson").symlink_to(private)
    assert [item.raw for batch in [first, *reading] for item in batch.items] == items(1)


def test_nothing_is_readable_where_no_folder_is_open(folder: Path, reader: Reader, settings: Any) -> None:
    settings.CONNECTOR_DIRECTORIES = []
    assert "CONNECTOR_DIRECTORIES" in reader.fault().fix


def test_a_folder_that_is_not_there_names_its_step_and_mend(folder: Path) -> None:
    reader = Reader(KIND, {"path": str(folder / "absent")})
    assert reader.fault().cause == "config"
    assert reader.failed.name == "listed"
    assert "Check the path" in reader.failed.fix


def test_a_pattern_chooses_files_and_may_go_down(folder: Path) -> None:
    put(folder / "2026" / "a.ndjson", lines(1))
    put(folder / "2026" / "a.txt", lines(2))
    put(folder / "b.ndjson", lines(3))
    assert Reader(KIND, {"path": str(folder), "pattern": "*.ndjson"}).poll() == items(3)
    assert Reader(KIND, {"path": str(folder), "pattern": "*/*.ndjson"}).poll() == items(1)


@pytest.mark.parametrize("pattern", ["../*", "/etc/*", "**/*", "a//b", "./*"])
def test_a_pattern_that_leads_elsewhere_is_a_problem(folder: Path, pattern: str) -> None:
    reader = Reader(KIND, {"path": str(folder), "pattern": pattern})
    assert [problem[:8] for problem in KIND.check(reader.config)] == ["pattern:"]


def test_a_poll_that_is_cut_off_goes_on_within_the_file(folder: Path, reader: Reader) -> None:
    put(folder / "a.ndjson", lines(*range(1200)))
    put(folder / "b.ndjson", lines(1200))
    assert reader.poll(max_batches=1) == items(*range(500))
    assert reader.poll(max_batches=1) == items(*range(500, 1000))
    assert reader.poll() == items(*range(1000, 1201))
    assert reader.poll() == []


def test_a_file_that_changed_since_it_was_read_in_part_is_read_from_its_beginning(folder: Path, reader: Reader) -> None:
    put(folder / "a.ndjson", lines(*range(600)))
    reader.poll(max_batches=1)
    put(folder / "a.ndjson", lines(*range(1000, 1600)), age=30)
    assert reader.poll() == items(*range(1000, 1600))


def test_many_small_files_are_read_across_polls(folder: Path, reader: Reader) -> None:
    for number in range(1100):
        put(folder / f"{number:05}.json", items(number)[0])
    records = reader.poll(max_batches=1) + reader.poll(max_batches=1) + reader.poll()
    assert records == items(*range(1100))


def test_reading_ends_at_the_deadline_with_what_it_has(folder: Path, reader: Reader) -> None:
    put(folder / "a.ndjson", lines(*range(200)))
    raw_items: list[bytes] = []
    polls = 0
    while len(raw_items) < 200:
        raw_items += reader.poll(seconds=0)
        polls += 1
        assert polls <= 201
    assert raw_items == items(*range(200))


def test_each_poll_makes_progress_however_short_it_is(folder: Path, reader: Reader) -> None:
    for number in range(100):
        put(folder / f"{number:04}.json", items(number)[0])
    reader.poll()
    for number in range(100, 110):
        put(folder / f"{number:04}.json", items(number)[0])
    raw_items: list[bytes] = []
    for _ in range(25):  # one to read a file, one to be done with it
        raw_items += reader.poll(seconds=0)
    assert raw_items == items(*range(100, 110))


def test_a_large_folder_is_listed_from_its_last_name_between_full_listings(
    folder: Path, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(named_items, "SMALL", 2)
    for name in "bcd":
        put(folder / f"{name}.ndjson", lines(1))
    reader.poll()
    put(folder / "a.ndjson", lines(2))
    put(folder / "e.ndjson", lines(3))
    assert reader.poll() == items(3)
    monkeypatch.setattr(named_items, "FULL_LISTING_SECONDS", 0)
    assert reader.poll() == items(2)


def test_a_damaged_file_is_one_bad_item_and_the_others_are_read(folder: Path, reader: Reader) -> None:
    put(folder / "a.json.gz", gzip.compress(b"[" + b'{"x": "%s"},' % os.urandom(999).hex().encode() * 9)[:200])
    put(folder / "b.ndjson", lines(1))
    *bad, good = reader.items()
    assert bad
    assert bad[-1].problem
    assert good.raw == items(1)[0]
    assert reader.poll() == []


def test_it_tells_how_old_the_newest_file_is(folder: Path, reader: Reader) -> None:
    put(folder / "a.ndjson", lines(1), age=2000)
    put(folder / "b.ndjson", lines(1), age=1000)
    (batch,) = reader.batches()
    assert batch.behind_seconds == pytest.approx(1000, abs=HANGS_SECONDS)


@pytest.mark.parametrize("outer_first", [True, False])
@pytest.mark.parametrize("is_linked", [True, False])
def test_an_organizations_folder_is_its_own_below_every_folder_that_is_open(
    folder: Path, tmp_path: Path, settings: Any, outer_first: bool, is_linked: bool
) -> None:
    outer, inner, (us, them) = tmp_path / "open", tmp_path / "open" / "bank", (uuid.uuid4(), uuid.uuid4())
    for top in (outer, inner):
        put(top / str(them) / "a.ndjson", lines(1))
        put(top / str(us) / "a.ndjson", lines(2))
    (tmp_path / "link").symlink_to(inner)
    opened = [str(outer), str(tmp_path / "link" if is_linked else inner)]
    settings.CONNECTOR_DIRECTORIES = opened if outer_first else opened[::-1]

    def reader_of(path: Path, pattern: str = "*") -> Reader:
        made = Reader(KIND, {"path": str(path), "pattern": pattern})
        made.organization_id = us
        return made

    assert reader_of(inner, "*/*").poll() == items(2)
    assert reader_of(outer, "bank/*/*").poll() == items(2)
    for top in (outer, inner):
        assert reader_of(top / str(us)).poll() == items(2)
        assert "CONNECTOR_DIRECTORIES" in reader_of(top / str(them)).fault().fix
