"""Reading one decision: its index row, the bytes of its record, its receipt, and ids that are awkward in a path."""

import json
import uuid
from urllib.parse import quote

import pytest

pytestmark = pytest.mark.django_db


def path_of(decision_id, suffix=""):
    return "/v1/decisions/" + quote(decision_id, safe="") + suffix


ODD_IDS = [
    "a/b", "/a", "a/", "a//b", "//", "/", "record/x", "a/record/b", "receipts", ".", "..", "../x", "a.b", "a\\b",
    "a b", " a", "a ", "a\tb", "a\nb", "\r\n", "a\u2028b", "\x7f", "\x01", "ä", "e\u0301", "日本", "😀",
    "100%", "%41", "%2F", "a+b", "a&b=c?d#e", "a;b", "a:b", "a,b", '"quoted"', "it's", "<script>", "' OR 1=1 --",
    "{decision_id}", "null", "0", "i" * 256,
]  # fmt: skip


@pytest.mark.once
def test_every_id_can_be_read_back(api, subtests):
    raws = {decision_id: json.dumps({"decision_id": decision_id, "n": 1.50}).encode() for decision_id in ODD_IDS}
    receipts = {decision_id: api.ingest(raw).json() for decision_id, raw in raws.items()}
    for decision_id, raw in raws.items():
        with subtests.test(decision_id=decision_id):
            detail = api.get(path_of(decision_id))
            assert detail.status_code == 200
            assert detail.json()["decision_id"] == decision_id
            assert api.get(path_of(decision_id, "/record")).content == raw
            assert api.get(path_of(decision_id, "/receipt")).json() == receipts[decision_id]


@pytest.mark.once
@pytest.mark.parametrize("decision_id", ["a/record", "a/receipt"])
def test_the_record_of_an_id_that_ends_like_a_path_can_be_read(api, decision_id):
    """The list has its index row. The bare path names the record of `a`."""
    raw = json.dumps({"decision_id": decision_id}).encode()
    receipt = api.ingest(raw).json()
    assert api.get(path_of(decision_id, "/record")).content == raw
    assert api.get(path_of(decision_id, "/receipt")).json() == receipt
    assert api.get(path_of(decision_id)).status_code == 404
    assert [item["decision_id"] for item in api.get("/v1/decisions").json()["items"]] == [decision_id]


UNKNOWN = ["LOAN-1", "loan-1 ", "loan-\uff11", "loan", "loan-1\u0000", "loan%", "loan_1", "é", "x" * 256]


def test_an_unknown_id_is_a_404_with_a_sentence(api, subtests):
    for known in ("loan-1", "e\u0301"):
        api.ingest({"decision_id": known})
    for path in (path_of(other, suffix) for other in UNKNOWN for suffix in ("", "/record", "/receipt")):
        with subtests.test(path=path):
            response = api.get(path)
            assert response.status_code == 404
            assert isinstance(response.json()["detail"], str)


@pytest.mark.once
def test_another_organizations_id_is_a_404(api, other_api):
    other_api.ingest({"decision_id": "loan-1"})
    answers = {suffix: api.get(path_of("loan-1", suffix)).status_code for suffix in ("", "/record", "/receipt")}
    assert set(answers.values()) == {404}, answers


@pytest.mark.once
def test_an_id_longer_than_256_characters_is_a_422_of_the_path(api, subtests):
    for suffix in ("", "/record", "/receipt"):
        with subtests.test(suffix=suffix):
            response = api.get(path_of("i" * 257, suffix))
            assert response.status_code == 422
            (problem,) = response.json()["detail"]
            assert (problem["type"], problem["loc"]) == ("string_too_long", ["path", "decision_id"])


@pytest.mark.once
def test_the_detail_shows_the_fields_of_the_record(api):
    api.ingest(
        {
            "decision_id": "loan-1",
            "decided_at": "2026-10-21T14:05:33+02:00",
            "subject": {"reference": "application 7"},
            "system": {"name": "Example Scorer", "version": "5.2.1"},
            "outcome": {"action": "denied"},
        }
    )
    shown = api.get("/v1/decisions/loan-1").json()
    assert uuid.UUID(shown.pop("record_id")).version == 8
    assert shown.pop("received_at").endswith("Z")
    assert shown == {
        "decision_id": "loan-1",
        "kind": "decision",
        "source": "api",
        "decided_at": "2026-10-21T12:05:33.000000Z",
        "action": "denied",
        "system": {"name": "Example Scorer", "version": "5.2.1"},
        "subject": {"reference": "application 7"},
        "custody": "stored",
        "current_action": "denied",
        "latest_reconsideration": None,
        "latest_outcome": None,
        "reconsiders": None,
        "first_record_id": None,
        "history": [],
    }


ODD_SHAPES = [
    {},
    {"decided_at": None, "subject": None, "system": None, "outcome": None},
    {"decided_at": 5, "subject": "x", "system": [], "outcome": 1.5},
    {"decided_at": "yesterday", "subject": {"reference": 7}, "system": {"name": {}}, "outcome": {"action": True}},
    {"decided_at": "2026-10-21T14:05:33", "outcome": {"action": ""}},
    {"decided_at": "2026-13-45T99:99:99Z", "outcome": {"action": "x" * 257}},
    {"decided_at": "", "subject": {}, "system": {}, "outcome": {}},
]


@pytest.mark.once
def test_a_profile_field_of_another_shape_is_kept_and_not_indexed(api, subtests):
    for number, record in enumerate(ODD_SHAPES):
        with subtests.test(record=record):
            raw = json.dumps(record | {"decision_id": f"loan-{number}"}).encode()
            assert api.ingest(raw).status_code == 201
            assert api.get(f"/v1/decisions/loan-{number}/record").content == raw
            shown = api.get(f"/v1/decisions/loan-{number}").json()
            assert shown["decided_at"] is shown["action"] is shown["subject"]["reference"] is None
            assert shown["system"] == {"name": None, "version": None}


ENDS_OF_TIME = [
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z",
]  # fmt: skip


def test_a_decision_at_the_ends_of_time_is_stored_and_listed(api, subtests):
    for number, decided_at in enumerate(ENDS_OF_TIME, start=1):
        with subtests.test(decided_at=decided_at):
            record = {"decision_id": f"loan-{number}", "decided_at": decided_at}
            assert api.ingest(record).status_code == 201
            assert api.get(f"/v1/decisions/loan-{number}").status_code == 200
            listed = api.get("/v1/decisions")
            assert listed.status_code == 200
            assert len(listed.json()["items"]) == number
            assert api.get("/v1/decisions", decided_from="2020-01-01T00:00:00Z").status_code == 200


ODD_SPELLINGS = [
    b'{"decision_id":"loan-0"}',
    b' {\r\n\t"decision_id" : "loan-1" } \n',
    b'{"decision_id": "loan-2", "n": [0.920, 1E+2, 9007199254740993, -0.0]}',
    b'{"decision_id": "loan-3", "t": "\\u00e9\\/\xc3\xa9"}',
    '{"decision_id": "loan-4", "t": "שלום ‮ 😀"}'.encode(),
]


def test_the_record_is_returned_byte_for_byte_as_json(api, each_vault, subtests):
    for number, raw in enumerate(ODD_SPELLINGS):
        with subtests.test(raw=raw):
            assert api.ingest(raw).status_code == 201
            response = api.get(f"/v1/decisions/loan-{number}/record")
            assert response.content == raw
            assert response["Content-Type"] == "application/json"
