"""Commitments: they do not reveal a text, but prove it to a reader who has text and salt."""

import base64
import hashlib
import io
import json
import sys

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from accounts.selectors import UnknownSlug
from config.errors import DomainError
from config.http import strict_json
from custody.models import Entry
from decisions import commitments
from decisions.models import Decision
from decisions.selectors import DecisionNotFound
from tests.reconsiderations.conftest import REVIEW, check, is_committed, reconsider, record_of
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.once

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(ANY_TEXT)
def test_a_commitment_matches_its_text(text):
    commitment = commitments.commit(text)
    assert commitments.matches(commitment, text)
    assert is_committed(commitment, text)
    assert len(base64.b64decode(commitment["salt"])) == 32


@given(ANY_TEXT, ANY_TEXT)
def test_a_commitment_matches_no_other_text(one, other):
    assert commitments.matches(commitments.commit(one), other) == (one == other)


@given(ANY_TEXT)
def test_two_commitments_to_one_text_differ(text):
    one, other = commitments.commit(text), commitments.commit(text)
    assert one["salt"] != other["salt"]
    assert one["commitment"] != other["commitment"]


@given(ANY_TEXT)
def test_a_text_matches_after_a_round_trip_through_json(text):
    read = strict_json.read(json.dumps({"rationale": text}).encode())
    assert commitments.matches(commitments.commit(text), read["rationale"])


def test_a_commitment_is_not_the_digest_of_the_text():
    text = REVIEW["rationale"]
    assert commitments.commit(text)["commitment"] != hashlib.sha256(text.encode()).hexdigest()


# ── the salts ──


@pytest.mark.django_db
def test_only_the_sealed_record_and_the_first_answer_have_the_salts(api, each_vault, original):
    recorded = reconsider(api).json()
    commitments = [recorded["rationale"], *recorded["evidence_considered"]]
    content = record_of(api, recorded["decision_id"])
    assert [content["rationale"], *content["evidence_considered"]] == commitments
    mine = f"/v1/decisions/{recorded['decision_id']}"
    for path in ("/v1/decisions", "/v1/decisions/loan-1", mine, f"{mine}/receipt", "/v1/audit"):
        shown = api.get(path).content.decode()
        for commitment in commitments:
            assert commitment["salt"] not in shown
            assert commitment["commitment"] not in shown


@pytest.mark.django_db
def test_equal_texts_of_one_review_have_different_commitments(api, original):
    recorded = reconsider(api, rationale="same", evidence_considered=["same", "same"]).json()
    rows = [recorded["rationale"], *recorded["evidence_considered"]]
    assert len({row["commitment"] for row in rows}) == len({row["salt"] for row in rows}) == 3


# ── checking through the API ──


@pytest.fixture
def recorded(api, each_vault, original):
    return reconsider(api).json()["decision_id"]


@pytest.mark.django_db
def test_a_check_accepts_only_the_text_of_the_commitment(api, recorded):
    texts = ["payslip of March", "letter of 4 May", "another letter", REVIEW["rationale"], ""]
    answer = check(api, recorded, rationale=REVIEW["rationale"], evidence_considered=texts)
    assert answer.status_code == 200
    assert answer.json() == {"rationale": True, "evidence_considered": [True, True, False, False, False]}
    for other in ("", REVIEW["rationale"] + "\n", REVIEW["rationale"].lower(), "payslip of March"):
        assert check(api, recorded, rationale=other).json() == {"rationale": False, "evidence_considered": []}


@pytest.mark.django_db
def test_a_check_answers_only_for_the_texts_it_received(api, recorded, subtests):
    for body in ({}, {"rationale": None}, {"colour": "red"}):
        with subtests.test(body=body):
            answer = check(api, recorded, **body).json()
            assert answer.pop("ignored", []) == ([] if "colour" not in body else ["colour"])
            assert answer == {"rationale": None, "evidence_considered": []}


@pytest.mark.django_db
def test_a_text_is_committed_to_without_normalization(api, original, subtests):
    for text in ("", " ", "\n", "a\r\nb", "\u2028", "\x01\x1b\x7f", "e\u0301", "עברית", "👩⚖", "\ufeff"):
        with subtests.test(text=text):
            recorded = reconsider(api, rationale=text, evidence_considered=[text])
            assert recorded.status_code == 201
            assert is_committed(recorded.json()["rationale"], text)
            answer = check(api, recorded.json()["decision_id"], rationale=text, evidence_considered=[text])
            assert answer.json() == {"rationale": True, "evidence_considered": [True]}
            lookalike = check(
                api, recorded.json()["decision_id"], rationale=text + "\u200b", evidence_considered=[text + " "]
            )
            assert lookalike.json() == {"rationale": False, "evidence_considered": [False]}


OTHER_SHAPES = [
    (b'{"rationale": 5}', ["body", "rationale"]),
    (b'{"evidence_considered": null}', ["body", "evidence_considered"]),
    (b'{"evidence_considered": [5]}', ["body", "evidence_considered", 0]),
    (b"[]", ["body"]),
]


@pytest.mark.django_db
def test_a_check_of_another_shape_is_refused(api, recorded, subtests):
    for body, loc in OTHER_SHAPES:
        with subtests.test(body=body, loc=loc):
            answer = api.post(f"/v1/decisions/{recorded}/reconsideration/check", body)
            assert answer.status_code == 422
            assert [problem["loc"] for problem in answer.json()["detail"]] == [loc]


@pytest.mark.django_db
def test_a_check_of_a_decision_is_a_409_and_of_an_unknown_id_a_404(api, other_api, recorded):
    answer = check(api, "loan-1", rationale="x")
    assert answer.status_code == 409
    assert "name the reconsideration's own decision_id" in answer.json()["detail"]
    for answer in (check(api, "loan-9", rationale="x"), check(other_api, recorded, rationale=REVIEW["rationale"])):
        assert answer.status_code == 404


@pytest.mark.django_db
def test_a_check_stores_nothing(api, recorded, django_assert_num_queries):
    def rows():
        return [sorted(map(str, model.objects.values_list())) for model in (Decision, Entry)]

    before, audit = rows(), api.get("/v1/audit").json()
    check(api, recorded, rationale=REVIEW["rationale"], evidence_considered=["payslip of March"])
    assert rows() == before
    assert api.get("/v1/audit").json() == audit


# ── checking by command ──


@pytest.fixture
def command(organization, monkeypatch, capsys):
    """Return a function that runs the command with a text on standard input, and returns its message."""

    def run(decision_id, text, *options, source="-"):
        raw = text if isinstance(text, bytes) else text.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
        try:
            call_command("check_reconsideration", decision_id, *options, organization="example-bank", text=source)
        except CommandError as error:
            return str(error)
        except DomainError as error:  # as in manage.py
            return error.sentence
        return capsys.readouterr().out.strip()

    return run


YES, NO = "This is the text that was committed to.", "This is not the text that was committed to."


@pytest.mark.django_db
def test_the_command_accepts_only_the_text_of_the_commitment(command, recorded):
    assert command(recorded, REVIEW["rationale"]) == YES
    assert command(recorded, REVIEW["rationale"] + "!") == NO
    assert command(recorded, "") == NO


@pytest.mark.django_db
def test_the_command_reads_a_file(command, recorded, tmp_path):
    path = tmp_path / "rationale.txt"
    path.write_text(REVIEW["rationale"])
    assert command(recorded, "", source=str(path)) == YES
    assert command(recorded, "", source=str(tmp_path / "missing.txt")).endswith("No such file or directory.")
    assert command(recorded, "", source=str(tmp_path)).endswith("Is a directory.")


@pytest.mark.django_db
def test_the_command_compares_with_evidence_only_if_asked(command, recorded):
    assert command(recorded, "letter of 4 May", "--evidence") == YES
    assert command(recorded, "letter of 4 May") == NO
    assert command(recorded, REVIEW["rationale"], "--evidence") == NO


@pytest.mark.django_db
def test_a_final_line_break_makes_no_difference(command, recorded, subtests):
    for end in ("", "\n", "\r\n"):
        with subtests.test(end=end):
            assert command(recorded, REVIEW["rationale"] + end) == YES
            assert command(recorded, REVIEW["rationale"] + "\n" + end) == (NO if end else YES)


@pytest.mark.django_db
def test_the_exact_text_of_a_client_is_recognized(api, command, original, subtests):
    """A client that sent a whole file has committed to its final line break too."""
    for text in ("one line\n", "two\nlines\n", "two\r\nlines\r\n", "\n", "two\r\nlines"):
        with subtests.test(text=text):
            decision_id = reconsider(api, rationale=text).json()["decision_id"]
            assert command(decision_id, text) == YES


@pytest.mark.django_db
def test_a_file_with_windows_line_breaks_matches_the_text_of_the_form(api, command, original):
    """The form commits to line feeds, although browsers send CR LF."""
    decision_id = reconsider(api, rationale="two\nlines").json()["decision_id"]
    assert command(decision_id, "two\r\nlines\r\n") == YES


@pytest.mark.django_db
def test_the_command_names_the_problem_if_it_cannot_check(command, recorded, other_api):
    assert command("loan-9", "x") == DecisionNotFound.sentence
    assert command("loan-1", "x").startswith("This record is a decision")
    assert command(recorded, b"\xff") == "The text is not UTF-8."
    other_api.ingest({"decision_id": "loan-2"})
    hidden = reconsider(other_api, "loan-2").json()["decision_id"]
    assert command(hidden, REVIEW["rationale"]) == DecisionNotFound.sentence
    with pytest.raises(UnknownSlug, match="no organization with the slug unknown"):
        call_command("check_reconsideration", recorded, organization="unknown", text="/dev/null")


@pytest.mark.django_db
def test_the_command_reports_a_damaged_record(command, recorded):
    with unguarded():
        Entry.objects.filter(kind="reconsideration").update(statement=b"{}")
    assert "damaged" in command(recorded, REVIEW["rationale"])
