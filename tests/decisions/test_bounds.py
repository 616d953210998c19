"""Bounds on the cost of a small input: the product of its parts is bounded, not each part."""

import io
import json

import pytest

from accounts.models import AuditEvent
from config.http import body, strict_json
from custody.models import Entry
from custody.sealing import field_paths, fields
from custody.sealing.field_paths import MAX_PATH_BYTES, PathsTooLong
from decisions import records
from decisions.models import Decision
from decisions.services import records as ingesting
from tests.decisions.test_bulk import MIB, batch, outcome, record, without_a_length
from tests.growth import assert_linear, peak

DATABASE = pytest.mark.django_db


def spread(key: str, count: int) -> bytes:
    """Return a record of `count` fields below one long key."""
    below = dict.fromkeys(map("{:05}".format, range(count)), 0)
    return json.dumps({"decision_id": "x", key: below}, separators=(",", ":"), ensure_ascii=False).encode()


def path_bytes(raw: bytes) -> int:
    return sum(len(path.encode()) for path, _ in fields.leaves(raw))


# ── paths ──


@pytest.mark.once
@DATABASE
def test_a_long_key_above_many_fields_is_a_422_and_nothing_is_stored(api):
    raw = spread("k" * 200_000, 12_000)
    assert len(raw) < 321_000
    answer = api.ingest(raw)
    assert answer.status_code == 422
    (problem,) = answer.json()["detail"]
    assert (problem["type"], problem["loc"]) == ("value_error", ["body"])
    assert "16 MiB" in problem["msg"]
    assert Decision.objects.count() == Entry.objects.count() == 0


def test_a_record_is_refused_before_its_paths_are_built():
    raw = spread("k" * 200_000, 12_000)

    def parse(raw: bytes) -> None:
        with pytest.raises(PathsTooLong):
            records.parse(raw)

    assert peak(parse, raw) < 8 * MIB


@pytest.mark.parametrize("key", ["k", "ü", '"', "a.b", "\x00"])
def test_the_paths_of_all_leaves_may_have_16_mib_together_but_not_a_byte_more(key):
    count = 1000
    segment = len(field_paths.segment(key * 100).encode()) - len(field_paths.segment(key * 99).encode())
    raw = spread(key * ((MAX_PATH_BYTES // count - 40) // segment), count)
    parsed = json.loads(raw)
    parsed["rest"] = ""
    room = MAX_PATH_BYTES - path_bytes(json.dumps(parsed, ensure_ascii=False).encode())
    del parsed["rest"]
    for extra, is_taken in ((room, True), (room + 1, False)):
        full = json.dumps(parsed | {"rest" + "r" * extra: ""}, ensure_ascii=False).encode()
        assert path_bytes(full) == MAX_PATH_BYTES + extra - room
        if is_taken:
            assert records.parse(full)
        else:
            with pytest.raises(PathsTooLong):
                records.parse(full)


@pytest.mark.parametrize("empty", ["{}", "[]"])
def test_an_empty_object_or_list_counts_as_a_leaf(empty):
    raw = b'{"decision_id":"x","%s":[%s]}' % (b"k" * 200_000, b",".join([empty.encode()] * 1000))
    with pytest.raises(PathsTooLong):
        records.parse(raw)


@pytest.mark.once
@DATABASE
def test_a_line_with_too_long_paths_is_invalid_and_does_not_stop_the_others(api):
    answers = batch(api, b"\n".join([record("a"), spread("k" * 200_000, 12_000), record("b")]))
    assert outcome(answers) == [(1, "created"), (2, "invalid"), (3, "created")]
    assert "16 MiB" in answers[1]["detail"][0]["msg"]


SHAPES = {
    "a list of zeros": lambda size: {"l": [0] * (size // 2)},
    "a deep list": lambda size: json.loads('{"a":' * 50 + json.dumps([0] * (size // 40)) + "}" * 50),
    "keys": lambda size: {f"{n:x}": 0 for n in range(size // 10)},
    "quoted keys": lambda size: {f"{n:x}.": 0 for n in range(size // 10)},
    "escapes": lambda size: {"l": ['"'] * (size // 5)},
    "objects": lambda size: {"l": [{"name": "a", "b": None}] * (size // 22)},
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_cost_of_parsing_and_committing_grows_linearly_with_the_record(shape):
    def make(size: int) -> bytes:
        return json.dumps({"decision_id": "x", **shape(size)}, separators=(",", ":")).encode()

    assert_linear(lambda raw: fields.commitment(fields.leaves(raw, records.parse(raw)), bytes(32)), make, 2**16)


# ── bulk ──


@pytest.mark.once
@DATABASE
def test_an_answer_to_bad_lines_is_no_longer_than_the_upload(api):
    upload = b"x\n" * 100_000
    answers = batch(api, upload)
    assert [answer["status"] for answer in answers] == ["invalid"] * 1000 + ["stopped"]
    assert "1,000 lines were refused" in answers[-1]["detail"]
    assert len(json.dumps(answers)) < len(upload)


@pytest.mark.once
@DATABASE
def test_a_batch_stops_after_1000_conflicts_and_the_audit_trail_has_each(api):
    api.ingest(record("a"))
    answers = batch(api, b"\n".join(record("a", n=number) for number in range(1200)))
    assert [answer["status"] for answer in answers] == ["conflict"] * 1000 + ["stopped"]
    assert AuditEvent.objects.filter(verb="record.conflict").count() >= 1000


@pytest.mark.once
@DATABASE
def test_a_batch_of_exactly_1000_bad_lines_is_answered_whole(api):
    assert [answer["status"] for answer in batch(api, b"x\n" * 1000)] == ["invalid"] * 1000


@pytest.mark.once
@DATABASE
def test_a_batch_of_too_many_lines_is_stopped_with_a_reason(api, monkeypatch):
    monkeypatch.setattr(body, "MAX_UPLOAD_LINES", 150)
    answers = batch(api, b"\n".join(record(f"loan-{number}") for number in range(151)))
    assert [answer["status"] for answer in answers] == ["created"] * 100 + ["stopped"]
    assert "more than 150 lines" in answers[-1]["detail"]
    assert len(batch(api, b"\n".join(record(f"loan-{number}") for number in range(150)))) == 150


@DATABASE
def test_blank_lines_count_towards_the_limit(api, monkeypatch):
    monkeypatch.setattr(body, "MAX_UPLOAD_LINES", 150)
    answer = api.client.post("/v1/ingest/srf/batch", b"\n" * 151, content_type=body.NDJSON)
    assert answer.status_code == 413


@pytest.mark.once
@DATABASE
def test_a_chunk_of_conflicts_reads_the_large_stored_record_once(api, monkeypatch):
    api.ingest(record("large", list=list(range(100_000))))
    read = []

    def counted(payload: bytes) -> bytes:
        read.append(len(payload))
        return content(payload)

    content = strict_json.content
    monkeypatch.setattr(strict_json, "content", counted)
    answers = batch(api, b"\n".join(record("large", n=number) for number in range(200)))
    assert {answer["status"] for answer in answers} == {"conflict"}
    assert sum(length > 500_000 for length in read) == 2


def test_a_chunk_of_records_has_at_most_one_mebibyte():
    """A parsed record may take thirty times its length."""
    sizes = [MIB // 2, MIB // 2, MIB, 10, MIB, *[10] * 250]
    chunks = list(ingesting._chunks((number, b"x" * size) for number, size in enumerate(sizes)))
    assert [[len(line) for _, line in chunk] for chunk in chunks] == [
        [MIB // 2, MIB // 2], [MIB], [10, MIB], [10] * 100, [10] * 100, [10] * 50,
    ]  # fmt: skip
    assert [number for chunk in chunks for number, _ in chunk] == list(range(len(sizes)))


class Trickle(io.BytesIO):
    """A client that sends a few bytes at a time."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(16)


def test_the_cost_of_a_line_in_small_pieces_is_linear_in_its_length():
    assert_linear(lambda upload: list(body._split(Trickle(upload))), lambda size: b"x" * size, MIB)


@pytest.mark.once
@DATABASE
@pytest.mark.parametrize("size", [MIB, MIB + 1, 3 * MIB])
def test_a_line_in_small_pieces_has_the_same_limit_as_another(api, size):
    long = record("long", text="")[:-2]
    upload = record("a") + b"\n" + long + b"x" * (size - len(long) - 2) + b'"}\n' + record("b")
    environment = without_a_length(b"") | {"wsgi.input": Trickle(upload)}
    answers = batch(api, b"", **environment)
    assert [answer["status"] for answer in answers] == ["created", "created" if size == MIB else "invalid", "created"]
