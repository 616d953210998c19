"""`manage.py preview_notice` prints the letter about a record in a file, and stores nothing."""

import io
import json
import sys
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.selectors import UnknownSlug
from decisions import samples
from tests.notices.conftest import RECORD
from tests.support.everything_kept import snapshot

pytestmark = pytest.mark.django_db


@pytest.fixture
def file(tmp_path) -> Any:
    def write(raw: bytes) -> str:
        path = tmp_path / "record.json"
        path.write_bytes(raw)
        return str(path)

    return write


@pytest.fixture
def run(organization, capsys) -> Any:
    """Run the command and return its standard output."""

    def call(*arguments: str) -> str:
        call_command("preview_notice", *arguments)
        return capsys.readouterr().out

    return call


INDENTED = json.dumps(RECORD, indent=2).encode()


def test_it_prints_the_letter_and_its_problems_and_stores_nothing(file, run):
    before = snapshot()
    output = run(file(INDENTED), "--pack", "us_ecoa_fcra")
    assert "The loan is larger than the limit of 90 % of the value." in output
    assert "Problems, which block approval: " in output
    assert "fill that in" in output
    assert "Due: 30 days after November 2, 2026" in output
    assert snapshot() == before


def test_a_warning_about_the_whole_letter_names_no_place(file, run):
    record = {"decision_id": "plan-1", "outcome": {"action": "denied", "reasons": ["The service was not covered."]}}
    output = run(file(json.dumps(record).encode()), "--pack", "us_health_denial")
    assert "  - The record does not say what kind of plan this is" in output
    assert "  - :" not in output


def test_json_output_equals_the_api_response(file, run, api):
    body = json.dumps({"record": RECORD, "pack": "gdpr_22", "language": "de"}).encode()
    answer = api.post("/v1/notices/preview", body).json()
    printed = json.loads(run(file(INDENTED), "--pack", "gdpr_22", "--language", "de", "--json"))
    for preview in (answer, printed):  # the times of creation differ
        del preview["deadline"], preview["deadlines"]
    assert printed == answer


def test_html_output_is_the_letter_alone(file, run):
    output = run(file(INDENTED), "--html")
    assert output.startswith("<!doctype html>")
    assert output.rstrip().endswith("</html>")


@pytest.mark.parametrize("raw", [INDENTED, b"\n" + INDENTED + b"\n\n", json.dumps(RECORD).encode()])
def test_a_file_holds_one_record_or_standard_input_does(file, run, monkeypatch, raw):
    assert json.loads(run(file(raw), "--json"))["decision_id"] == "loan-1"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    assert json.loads(run("-", "--json"))["decision_id"] == "loan-1"


def test_a_file_may_hold_one_record_a_line(file, run):
    records = list(samples.synthetic_records())[:5]
    raw = b"\r\n".join(records) + b"\n\n"
    decision_ids = [json.loads(line)["decision_id"] for line in run(file(raw), "--json").splitlines()]
    assert decision_ids == [json.loads(record)["decision_id"] for record in records]


def test_a_line_that_is_no_record_is_named_and_the_others_are_shown(file, organization, capsys):
    good = json.dumps(RECORD).encode()
    with pytest.raises(CommandError, match="2 of these records"):
        call_command("preview_notice", file(b"\n".join([good, b'{"x": 1}', b"no JSON", good])), "--json")
    output = capsys.readouterr()
    assert len(output.out.splitlines()) == 2
    assert "record 2: decision_id: Field required." in output.err
    assert "record 3: " in output.err


@pytest.mark.parametrize("raw", [b"", b"no JSON", b"[]", b"{", b'{"decision_id": ""}', b"\xff"])
def test_an_invalid_record_is_an_error_in_one_sentence(file, run, raw):
    with pytest.raises(CommandError, match="No notice can be drafted"):
        run(file(raw))


def test_an_unknown_file_pack_language_or_organization_is_an_error(file, run, tmp_path):
    with pytest.raises(CommandError, match="Cannot read"):
        run(str(tmp_path / "nowhere.json"))
    with pytest.raises(CommandError, match="invalid choice"):
        run(file(INDENTED), "--pack", "nowhere")
    with pytest.raises(CommandError, match="The pack has these languages: "):
        run(file(INDENTED), "--pack", "us_ecoa_fcra", "--language", "xx")
    with pytest.raises(UnknownSlug):
        run(file(INDENTED), "--organization", "unknown")


def test_the_organization_is_named_where_there_are_several(file, run, organization, other_api):
    with pytest.raises(UnknownSlug, match="name one with --organization"):
        run(file(INDENTED))
    assert organization.name in run(file(INDENTED), "--organization", organization.slug)
