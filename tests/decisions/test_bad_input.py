"""Bad input to `POST /v1/ingest/srf`: the error is clear, nothing is stored, and nothing private is repeated."""

import json

import pytest

from custody.models import Entry, SealedObject
from decisions.models import Decision

pytestmark = pytest.mark.django_db

SECRET = "only the caller knows this"
MIB = 2**20


def nothing_is_stored():
    return Decision.objects.count() == Entry.objects.count() == SealedObject.objects.count() == 0


def refused(api, raw, status=422, content_type="application/json"):
    """Return the `detail` of a refusal, after checking the rules of every refusal."""
    # With an empty body, the client only sends a content type that is set explicitly.
    response = api.client.post("/v1/ingest/srf", raw, content_type=content_type, CONTENT_TYPE=content_type)
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/json"
    assert SECRET not in response.content.decode()
    assert nothing_is_stored()
    detail = response.json()["detail"]
    if status == 422:
        (problem,) = detail
        assert set(problem) <= {"loc", "msg", "type", "input", "ctx"}
        assert {"loc", "msg", "type"} <= set(problem)
        return problem
    assert isinstance(detail, str)
    return detail


def beside(spelling: bytes) -> bytes:
    """Return a record with a private field that must not be repeated."""
    return b'{"decision_id": "loan-1", "secret": "%s", "bad": %s}' % (SECRET.encode(), spelling)


NO_JSON = {
    "white space alone": b" \r\n",
    "garbage bytes": b"\x89PNG\r\n\x1a\n\x00\x00",
    "UTF-16": b"\xff\xfe{\x00}\x00",
    "a byte order mark": b"\xef\xbb\xbf" + beside(b"1"),
    "a form": b"decision_id=loan-1",
    "an object cut short": beside(b"1")[:-1],
    "two objects": beside(b"1") + beside(b"2"),
    "two lines": beside(b"1") + b"\n" + beside(b"2"),
    "5,000 levels": beside(b"[" * 5000 + b"]" * 5000),
    "100,000 levels never closed": beside(b"[" * 100000),
    "65 levels": beside(b"[" * 64 + b"]" * 64),
    "NUL as a raw byte": beside(b'"\x00"'),
    "a text that is not UTF-8": beside(b'"\xff"'),
}


@pytest.mark.once
def test_unacceptable_json_is_refused_as_json_invalid(api, subtests):
    for case, raw in NO_JSON.items():
        with subtests.test(case):
            problem = refused(api, raw)
            assert problem["type"] == "json_invalid"
            assert problem["loc"][0] == "body"
            assert isinstance(problem["loc"][1], int)
            assert problem["ctx"]["error"] in problem["msg"]


AMBIGUOUS = {
    "decision_id twice": (beside(b'1, "decision_id": "loan-2"'), ["decision_id"]),
    "a key twice, deep inside": (beside(b'{"a": {"b": 1, "b": 1}}'), ["bad", "a", "b"]),
    "a key twice, once escaped": (beside(b'{"a": 1, "\\u0061": 1}'), ["bad", "a"]),
    "NaN": (beside(b"NaN"), ["bad"]),
    "-Infinity": (beside(b"[-Infinity]"), ["bad", 0]),
    "a number no double holds": (beside(b"1e400"), ["bad"]),
    "the same, deep inside": (beside(b'[{"x": [0, 1, 2, 1e400]}]'), ["bad", 0, "x", 3]),
    "an exponent no number type holds": (beside(b"1e-9999999999999999999"), ["bad"]),
    "an integer of 5,000 digits": (beside(b"9" * 5000), ["bad"]),
    "half a surrogate pair": (beside(b'"\\ud800"'), ["bad"]),
    "half a surrogate pair in a key": (beside(b'{"\\ud800": 1}'), ["bad"]),
    "below a key too long to repeat": (b'{"%s": [1e400]}' % (b"k" * 5000), []),
}


@pytest.mark.once
def test_an_ambiguous_value_is_refused_as_json_invalid_at_its_path(api, subtests):
    for case, (raw, path) in AMBIGUOUS.items():
        with subtests.test(case):
            problem = refused(api, raw)
            assert problem["type"] == "json_invalid"
            assert problem["loc"] == ["body", *path]
            assert problem["ctx"]["error"] in problem["msg"]


NO_OBJECTS = [b"[]", b'[{"decision_id": "loan-1"}]', b"5", b"1.5", b"null", b"true"]


@pytest.mark.once
def test_a_body_that_is_no_object_is_refused(api, subtests):
    for raw in NO_OBJECTS:
        with subtests.test(raw=raw):
            problem = refused(api, raw)
            assert problem["loc"] == ["body"]
            assert problem["type"] in ("dict_type", "model_type")
            assert "dictionary" in problem["msg"]


@pytest.mark.once
def test_a_text_instead_of_an_object_is_not_repeated(api):
    refused(api, json.dumps(SECRET).encode())


NO_IDS = {
    "300 characters": ('"%s"' % ("i" * 300), "string_too_long"),
    "257 characters of two bytes": ('"%s"' % ("ü" * 257), "string_too_long"),
    "no character": ('""', "string_too_short"),
    "NUL": ('"loan\\u0000"', "value_error"),
    "an integer": ("5", "string_type"),
    "a fraction": ("1.5", "string_type"),
    "a very long integer": ("9" * 4000, "string_type"),
    "a boolean": ("true", "string_type"),
    "null": ("null", "string_type"),
    "a list": ('["loan-1"]', "string_type"),
    "an object": (json.dumps({"a": SECRET}), "string_type"),
}


@pytest.mark.once
def test_an_unusable_decision_id_has_pydantics_error_type(api, subtests):
    for case, (identity, problem_type) in NO_IDS.items():
        with subtests.test(case):
            problem = refused(api, f'{{"decision_id": {identity}, "secret": "{SECRET}"}}'.encode())
            assert problem["type"] == problem_type
            assert problem["loc"] == ["body", "decision_id"]


@pytest.mark.once
def test_an_error_about_the_length_of_an_id_states_the_bound(api):
    long = refused(api, b'{"decision_id": "%s"}' % (b"i" * 300))
    short = refused(api, b'{"decision_id": ""}')
    assert (long["ctx"], short["ctx"]) == ({"max_length": 256}, {"min_length": 1})


@pytest.mark.once
def test_a_missing_decision_id_is_named_and_the_record_not_repeated(api, subtests):
    for record in ({}, {"secret": SECRET}, {"Decision_id": "loan-1"}, {"a": {"decision_id": "loan-1"}}):
        with subtests.test(record=record):
            problem = refused(api, json.dumps(record).encode())
            assert (problem["type"], problem["loc"]) == ("missing", ["body", "decision_id"])
            assert "input" not in problem


@pytest.mark.once
@pytest.mark.parametrize("size", [MIB + 1, 2 * MIB])
def test_a_body_over_1_mib_is_a_413(api, size):
    assert "1 MiB" in refused(api, beside(b'"%s"' % (b"x" * size))[:size], 413)


def test_a_body_of_1_mib_exactly_is_taken(api):
    raw = b'{"decision_id": "loan-1", "text": "'
    raw += b"x" * (MIB - len(raw) - 2) + b'"}'
    assert len(raw) == MIB
    assert api.ingest(raw).status_code == 201
    assert api.get("/v1/decisions/loan-1/record").content == raw


OTHER_TYPES = [
    "text/plain", "", "application/x-ndjson", "application/xml", "multipart/form-data; boundary=x", "text/json",
    "application/x-www-form-urlencoded", "application/json; charset=latin-1", "application/json; charset=utf-16",
]  # fmt: skip


@pytest.mark.once
def test_another_content_type_is_a_415_that_names_the_right_one(api, subtests):
    for content_type in OTHER_TYPES:
        with subtests.test(content_type=content_type):
            assert "application/json" in refused(api, beside(b"1"), 415, content_type)


@pytest.mark.once
@pytest.mark.parametrize(
    "content_type",
    ["application/json", "Application/JSON", "application/json; charset=utf-8", 'application/json;charset="UTF-8"'],
)
def test_json_in_utf_8_is_accepted_in_any_spelling_of_its_type(api, content_type):
    assert api.post("/v1/ingest/srf", beside(b"1"), content_type).status_code == 201


def test_every_text_of_1_to_256_characters_is_an_id(api, subtests):
    for identity in ("i", "i" * 256, "ü" * 256, "😀" * 256, " ", "a/b", "a\nb", "‮abc"):
        with subtests.test(identity=identity):
            for ensure_ascii in (True, False):
                response = api.ingest(json.dumps({"decision_id": identity}, ensure_ascii=ensure_ascii).encode())
                assert response.status_code == (201 if ensure_ascii else 200)
                assert response.json()["decision_id"] == identity


@pytest.mark.once
def test_another_method_is_a_405_in_json(api, subtests):
    for method in ("get", "put", "patch", "delete"):
        with subtests.test(method=method):
            response = getattr(api.client, method)("/v1/ingest/srf")
            assert response.status_code == 405
            assert isinstance(response.json()["detail"], str)


@pytest.mark.once
def test_without_a_key_the_body_is_not_checked(api, client):
    response = client.post("/v1/ingest/srf", b"garbage", content_type="application/json")
    assert response.status_code == 401
    assert nothing_is_stored()
