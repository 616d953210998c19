"""Bulk ingest: `POST /v1/ingest/srf/batch` and `manage.py ingest` take one record a line and answer each line."""

import gc
import io
import json
import sys

import pytest
from django.core.management import CommandError, call_command

from accounts import audit, services
from accounts.models import AuditEvent
from config.errors import DomainError
from decisions.models import Decision
from decisions.services import CHUNK

pytestmark = pytest.mark.django_db

NDJSON = "application/x-ndjson"
MIB = 2**20


def post(api, body, content_type=NDJSON, **environment):
    return api.client.post(
        "/v1/ingest/srf/batch", body, content_type=content_type, CONTENT_TYPE=content_type, **environment
    )


def batch(api, body, **environment):
    """Upload a batch, and return the lines of the answer."""
    response = post(api, body, **environment)
    assert response.status_code == 200, response.content
    assert response["Content-Type"] == NDJSON
    answer = response.getvalue()
    assert answer == b"" or answer.endswith(b"\n")
    return [json.loads(line) for line in answer.splitlines()]


def record(decision_id, **fields):
    return json.dumps({"decision_id": decision_id} | fields).encode()


def outcome(answers):
    return [(answer["line"], answer["status"]) for answer in answers]


@pytest.mark.once
def test_a_line_has_its_receipt_if_the_request_asks_for_receipts(api, each_vault):
    lines = [record("new"), record("new"), record("new", n=1), b"garbage"]
    created, replayed, *refused = batch(api, b"\n".join(lines), QUERY_STRING="receipts=true")
    assert created["receipt"] == replayed["receipt"] == api.get("/v1/decisions/new/receipt").json()
    assert [(answer["status"], "receipt" in answer) for answer in refused] == [("conflict", False), ("invalid", False)]


@pytest.mark.once
@pytest.mark.parametrize("query", ["", "receipts=false"])
def test_a_line_has_no_receipt_by_default(api, query):
    (answer,) = batch(api, record("new"), QUERY_STRING=query)
    assert set(answer) == {"line", "status", "decision_id", "record_id"}


@pytest.mark.once
@pytest.mark.parametrize("query", ["receipt=true", "receipts=all", "receipts="])
def test_a_misspelt_parameter_is_refused_before_a_line_is_stored(api, query):
    response = post(api, record("new"), QUERY_STRING=query)
    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"] == ["query", query.split("=")[0]]
    assert not Decision.objects.unscoped("a test's own").exists()


def test_every_line_is_answered_in_order(api, each_vault):
    api.ingest(record("known", n=1))
    lines = [
        record("new"),
        record("known", n=1),
        record("known", n=2),
        b"garbage",
        b"",
        record("twice", n=1),
        record("twice", n=1),
        record("twice", n=2),
        record(""),
        b"[]",
        b"   ",
        record("last"),
    ]
    answers = batch(api, b"\n".join(lines))
    assert outcome(answers) == [
        (1, "created"), (2, "replayed"), (3, "conflict"), (4, "invalid"), (6, "created"), (7, "replayed"),
        (8, "conflict"), (9, "invalid"), (10, "invalid"), (12, "created"),
    ]  # fmt: skip
    assert Decision.objects.count() == 4
    assert json.loads(api.get("/v1/decisions/twice/record").content) == {"decision_id": "twice", "n": 1}


def test_an_answer_names_the_record_and_the_problem(api):
    created, conflict, invalid = batch(api, b"\n".join([record("a", n=1), record("a", n=2), record("i" * 300)]))
    known = api.get("/v1/decisions/a").json()
    assert created == {"line": 1, "status": "created", "decision_id": "a", "record_id": known["record_id"]}
    assert conflict["decision_id"] == "a"
    assert "never replaced" in conflict["detail"]
    (problem,) = invalid["detail"]
    assert (problem["type"], problem["loc"]) == ("string_too_long", ["body", "decision_id"])
    assert "decision_id" not in invalid


@pytest.mark.once
def test_a_bad_line_repeats_nothing_of_the_record(api):
    secret = "only the caller knows"
    (answer,) = batch(api, record("a", secret=secret)[:-1])
    assert secret not in json.dumps(answer)
    (answer,) = batch(api, json.dumps({"secret": secret}).encode())
    assert secret not in json.dumps(answer)


def test_a_conflict_is_in_the_audit_trail(api):
    batch(api, b"\n".join([record("a", n=1), record("a", n=2)]))
    event = AuditEvent.objects.get(verb="record.conflict")
    assert event.object_id == api.get("/v1/decisions/a").json()["record_id"]
    assert event.detail == {"source": "batch"}


@pytest.mark.once
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [b"", b"end"])
def test_line_ends_are_no_part_of_a_record(api, end, last):
    lines = [b'{"decision_id":"loan-%d" ,  "n": 1.50}' % number for number in range(3)]
    answers = batch(api, end.join(lines) + (end if last else b""))
    assert outcome(answers) == [(1, "created"), (2, "created"), (3, "created")]
    for number, line in enumerate(lines):
        assert api.get(f"/v1/decisions/loan-{number}/record").content == line


def test_the_exact_bytes_of_a_line_are_kept(api):
    line = '  {"decision_id" : "loan-1","t": "\\u00e9 é \u2028\u0085", "n": [0.920,1E+2,9007199254740993]}\t '.encode()
    assert outcome(batch(api, b"\n\n" + line + b"\n")) == [(3, "created")]
    assert api.get("/v1/decisions/loan-1/record").content == line


def test_a_record_sent_singly_and_in_a_batch_is_one_record(api):
    receipt = api.ingest(record("a")).json()
    assert outcome(batch(api, record("a"))) == [(1, "replayed")]
    assert api.get("/v1/decisions/a/receipt").json() == receipt
    assert Decision.objects.get().source == "api"


@pytest.mark.once
@pytest.mark.parametrize("body", [b"", b"\n", b"\r\n\r\n  \n"])
def test_an_upload_without_records_has_no_answers(api, body):
    assert batch(api, body) == []


@pytest.mark.once
@pytest.mark.parametrize("count", [1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 1])
def test_a_batch_of_any_size_is_stored_whole(api, each_vault, count):
    answers = batch(api, b"\n".join(record(f"loan-{number}") for number in range(count)))
    assert outcome(answers) == [(number + 1, "created") for number in range(count)]
    assert Decision.objects.count() == count


def test_a_record_in_two_chunks_is_one_record(api, each_vault):
    lines = [record(f"loan-{number % CHUNK}") for number in range(2 * CHUNK)]
    statuses = [status for _, status in outcome(batch(api, b"\n".join(lines)))]
    assert statuses == ["created"] * CHUNK + ["replayed"] * CHUNK


def test_a_chunk_with_only_bad_lines_is_answered(api):
    answers = batch(api, b"x\n" * (CHUNK + 1) + record("a"))
    assert [status for _, status in outcome(answers)] == ["invalid"] * (CHUNK + 1) + ["created"]


def test_a_chunk_that_repeats_one_record_stores_it_once(api, each_vault):
    statuses = [status for _, status in outcome(batch(api, (record("a") + b"\n") * CHUNK))]
    assert statuses == ["created"] + ["replayed"] * (CHUNK - 1)
    assert Decision.objects.count() == 1
    assert api.get("/v1/decisions/a/record").content == record("a")


def test_the_first_of_several_contents_with_one_id_in_a_chunk_is_stored(api, each_vault):
    lines = [record("a", n=number) for number in range(CHUNK)]
    statuses = [status for _, status in outcome(batch(api, b"\n".join(lines)))]
    assert statuses == ["created"] + ["conflict"] * (CHUNK - 1)
    assert api.get("/v1/decisions/a/record").content == lines[0]
    assert api.get("/v1/decisions/a/receipt").status_code == 200


@pytest.mark.once
@pytest.mark.parametrize("size", [MIB + 1, MIB + 64 * 1024, 5 * MIB])
@pytest.mark.parametrize("ended", [True, False])
def test_a_line_over_1_mib_is_refused_and_the_others_are_stored(api, size, ended):
    long = record("long", text="x" * size)
    body = b"\n".join([record("before"), long] + ([record("after")] if ended else []))
    answers = batch(api, body)
    assert outcome(answers) == [(1, "created"), (2, "invalid")] + ([(3, "created")] if ended else [])
    assert "1 MiB" in answers[1]["detail"][0]["msg"]


def test_a_line_of_1_mib_exactly_is_taken(api):
    line = record("a", text="")[:-2]
    line += b"x" * (MIB - len(line) - 2) + b'"}'
    assert outcome(batch(api, b"\n".join([line, record("b")]))) == [(1, "created"), (2, "created")]
    assert api.get("/v1/decisions/a/record").content == line


@pytest.mark.once
def test_an_upload_over_32_mib_is_a_413_and_nothing_is_stored(api):
    response = post(api, (record("a") + b"\n") * (33 * MIB // 21))
    assert response.status_code == 413
    assert "32 MiB" in response.json()["detail"]
    assert not Decision.objects.exists()


def without_a_length(body):
    """Return the environment of a chunked upload, whose size is not announced."""
    return {"wsgi.input": io.BytesIO(body), "HTTP_TRANSFER_ENCODING": "chunked", "CONTENT_LENGTH": ""}


PADDING = (b" " * 1023 + b"\n") * (33 * 1024)


def test_an_upload_without_a_length_is_stored_whole(api):
    body = b"\n".join(record(f"loan-{number}") for number in range(5))
    assert len(batch(api, b"", **without_a_length(body))) == 5


@pytest.mark.once
def test_an_upload_without_a_length_is_stopped_after_32_mib_with_a_reason(api):
    """The earlier chunks are in custody, so their lines are answered. The other lines are not stored."""
    lines = [record(f"loan-{number}") + b"\n" for number in range(CHUNK + 5)]
    answers = batch(api, b"", **without_a_length(b"".join(lines) + PADDING))
    assert outcome(answers[:-1]) == [(number + 1, "created") for number in range(CHUNK)]
    assert answers[-1]["status"] == "stopped"
    assert "32 MiB" in answers[-1]["detail"]
    assert Decision.objects.count() == CHUNK


@pytest.mark.once
def test_an_upload_without_a_length_that_is_too_large_at_once_is_a_413(api):
    response = post(api, b"", **without_a_length(record("a") + b"\n" + PADDING))
    assert response.status_code == 413
    assert not Decision.objects.exists()
    gc.collect()  # would warn of a file that was left open


@pytest.mark.once
@pytest.mark.parametrize(
    "content_type", ["application/json", "text/plain", "", "application/x-ndjson; charset=latin-1"]
)
def test_another_content_type_is_a_415(api, content_type):
    response = post(api, record("a"), content_type)
    assert response.status_code == 415
    assert NDJSON in response.json()["detail"]
    assert not Decision.objects.exists()


@pytest.fixture
def command(organization, capsys):
    """Return a function that runs `manage.py ingest` and returns its exit code and its output."""

    def run(*arguments):
        try:
            call_command("ingest", *arguments)
            code, message = 0, ""
        except CommandError as error:
            code, message = error.returncode, str(error)
        except DomainError as error:  # as in manage.py
            code, message = 1, error.sentence
        written = capsys.readouterr()
        return code, written.out.strip(), written.err + message

    return run


@pytest.fixture
def file(tmp_path):
    def write(*lines):
        path = tmp_path / "records.ndjson"
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return str(path)

    return write


def test_the_command_ingests_a_file_and_is_safe_to_repeat(command, file):
    path = file(*(record(f"loan-{number}") for number in range(3)))
    assert command(path)[:2] == (0, "3 created")
    assert command(path)[:2] == (0, "3 replayed")
    assert Decision.objects.filter(source="command").count() == 3


def test_the_command_lists_refused_lines_and_exits_1(command, file):
    code, out, err = command(file(record("a", n=1), record("a", n=2), b"", b"garbage", record("b")))
    assert (code, out) == (1, "1 conflict, 2 created, 1 invalid")
    assert "Some lines were not taken" in err
    assert '"line":2,"status":"conflict"' in err
    assert '"line":4' in err
    assert '"line":5' not in err


def test_the_command_reads_standard_input(command, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(record("a") + b"\r\n" + record("b"))))
    assert command("-")[:2] == (0, "2 created")


def test_the_command_keeps_a_lines_exact_bytes(command, file, api):
    line = b' {"decision_id" :"a", "n": 0.920}'
    command(file(line))
    assert api.get("/v1/decisions/a/record").content == line


@pytest.mark.once
def test_an_empty_file_is_no_error(command, file):
    assert command(file())[:2] == (0, "no records")


@pytest.mark.once
def test_a_file_that_cannot_be_read_is_named(command, tmp_path):
    code, _, err = command(str(tmp_path / "nowhere.ndjson"))
    assert code == 1
    assert "nowhere.ndjson: No such file or directory" in err


@pytest.mark.once
def test_with_several_organizations_the_command_asks_for_one(command, file):
    other = services.create_organization(name="Other", owner_email="o@other.example", actor=audit.SYSTEM)
    path = file(record("a"))
    code, _, err = command(path)
    assert code == 1
    assert "--organization" in err
    assert not Decision.objects.exists()
    assert command(path, "--organization", other.slug)[:2] == (0, "1 created")
    assert Decision.objects.get().organization_id == other.id


@pytest.mark.once
def test_an_unknown_organization_is_an_error(command, file):
    code, _, err = command(file(record("a")), "--organization", "unknown")
    assert code == 1
    assert "no organization with the slug unknown" in err
