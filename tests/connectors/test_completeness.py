"""Completeness checks: the share of a source's decisions in custody, the missing and the unknown ones."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from connectors import completeness

pytestmark = pytest.mark.django_db

JANUARY = "system=loans&from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z"


@pytest.fixture
def _records(api):
    days = {f"loan-{n}": f"2026-01-0{n + 1}T09:00:00Z" for n in range(5)} | {"later": "2026-02-01T00:00:00Z"}
    for decision_id, day in days.items():
        api.ingest({"decision_id": decision_id, "system": {"name": "loans"}, "decided_at": day})
    api.ingest({"decision_id": "other", "system": {"name": "cards"}, "decided_at": days["loan-4"]})


def ask(api, ids, query=JANUARY):
    body = b"".join(json.dumps(decision_id).encode() + b"\n" for decision_id in ids) or b"\n"
    return api.client.post(f"/v1/completeness?{query}", body, content_type="application/x-ndjson")


@pytest.mark.usefixtures("_records")
def test_missing_and_unknown_ids_are_listed(api):
    answer = ask(api, ["loan-0", "loan-1", "loan-2", "lost-1", "loan-2", "other"])
    assert answer.status_code == 200, answer.content
    assert answer.json() == {
        "completeness": 0.8,
        "expected": 5,
        "present": 4,
        "missing": ["lost-1"],
        "missing_count": 1,
        "unknown": ["loan-3", "loan-4"],
        "unknown_count": 2,
    }


@pytest.mark.usefixtures("_records")
def test_all_is_one_and_nothing_less_is(api):
    assert ask(api, [f"loan-{n}" for n in range(5)]).json()["completeness"] == 1
    assert ask(api, []).json()["completeness"] == 1


@pytest.mark.usefixtures("_records")
def test_ids_of_another_organization_are_missing(other_api):
    answer = ask(other_api, ["loan-0"]).json()
    assert (answer["present"], answer["unknown"]) == (0, [])


@pytest.mark.parametrize(
    ("query", "body", "where"),
    [
        ("system=loans", b'"a"', ["query", "from"]),
        (JANUARY + "&else=1", b'"a"', ["query", "else"]),
        ("system=&from=2026-01-01T00:00:00Z&to=2026-02-01T00:00:00Z", b'"a"', ["query", "system"]),
        ("system=loans&from=2026-01-01T00:00:00&to=2026-02-01T00:00:00Z", b'"a"', ["query", "from"]),
        ("system=loans&from=2026-02-01T00:00:00Z&to=2026-01-01T00:00:00Z", b'"a"', ["query", "to"]),
        (JANUARY, b'"a"\n{}', ["body", 2]),
        (JANUARY, b"loan-1", ["body", 1]),
        (JANUARY, b'"a"\n"%s"' % (b"a" * 257), ["body", 2]),
    ],
)
def test_invalid_input_is_refused_at_its_place(api, query, body, where):
    answer = api.client.post(f"/v1/completeness?{query}", body, content_type="application/x-ndjson")
    assert answer.status_code == 422
    assert where in [problem["loc"] for problem in answer.json()["detail"]]
    assert len(answer.content) < 1000


def test_an_id_may_be_as_long_as_any_is(api):
    assert ask(api, ["é" * 256]).json()["missing"] == ["é" * 256]


@pytest.mark.usefixtures("_records")
def test_no_more_unknown_ids_are_read_than_listed(api, monkeypatch, django_assert_max_num_queries):
    monkeypatch.setattr(completeness, "MAX_LISTED", 2)
    with django_assert_max_num_queries(9):
        report = ask(api, ["loan-1", *(f"lost-{n}" for n in range(5))]).json()
    assert (report["unknown"], report["unknown_count"]) == (["loan-0", "loan-2"], 4)
    assert (report["missing"], report["missing_count"]) == (["lost-0", "lost-1"], 5)
    assert report["completeness"] == round(1 / 6, 6)


@pytest.mark.usefixtures("_records")
def test_the_command_reports_the_same_and_fails_when_an_id_is_missing(tmp_path):
    ids, output = tmp_path / "ids.txt", io.StringIO()
    period = ["--system", "loans", "--from", "2026-01-01T00:00:00Z", "--to", "2026-02-01T00:00:00+00:00"]
    ids.write_text("".join(f"loan-{n}\n" for n in range(5)))
    call_command("completeness", str(ids), *period, stdout=output)
    assert output.getvalue().startswith("100.0000 % complete: 5 of 5")
    ids.write_text("loan-1\n\0\n")
    with pytest.raises(CommandError, match="Line 2"):
        call_command("completeness", str(ids), *period)
    ids.write_text("lost-1\n")
    with pytest.raises(CommandError, match="missing"):
        call_command("completeness", str(ids), *period, stdout=output)
    assert "  lost-1\n" in output.getvalue()
    assert "5 unknown to the source" in output.getvalue()


@pytest.mark.usefixtures("_records")
def test_the_command_reads_json_texts_too(tmp_path):
    ids, output = tmp_path / "ids.ndjson", io.StringIO()
    period = ["--system", "loans", "--from", "2026-01-01T00:00:00Z", "--to", "2026-02-01T00:00:00+00:00"]
    ids.write_text('"loan-0"\n"loan\\u002d1"\r\n "loan-2" \nloan-3\n"loan-4"')
    call_command("completeness", str(ids), *period, stdout=output)
    assert output.getvalue().startswith("100.0000 % complete: 5 of 5")
    for wrong in ('"a"b"', '"\\u0000"', '"\\x"'):
        ids.write_text(f"loan-1\n{wrong}\n")
        with pytest.raises(CommandError, match="Line 2"):
            call_command("completeness", str(ids), *period)
