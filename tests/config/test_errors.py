"""The bodies of errors: the contract's validation error, one sentence for the rest, and never a private text."""

import json
import os
import re
import subprocess
import sys
from typing import ClassVar

import pytest
from django.db import DataError, IntegrityError, InterfaceError, OperationalError

import manage
from accounts import services as accounts
from accounts import token_hashing
from accounts.roles import MEMBER_ROLES
from accounts.services import codes
from config.errors import DomainError, Fault, NotFound
from config.wrapped_secrets import MasterKeyWrong
from decisions import services
from tests.people import Browser
from tests.support import forks

pytestmark = pytest.mark.django_db

CANARY = "canary-5d1c"


def problem(answer) -> dict:
    assert answer.status_code == 422
    assert answer["Content-Type"] == "application/json"
    body = answer.json()
    assert list(body) == ["detail"]
    (only,) = body["detail"]
    return only


NO_CURSOR = "Value error, not a cursor of this list: use next_cursor of the page before, or none"
NO_JSON = "Send the body as Content-Type: application/json in UTF-8."
EXACT = [
    (b'{"name": ', {"type": "json_invalid", "loc": ["body", 9], "msg": "JSON decode error: Expecting value",
                    "ctx": {"error": "Expecting value"}}),
    (b" ", {"type": "json_invalid", "loc": ["body", 1], "msg": "JSON decode error: Expecting value",
            "ctx": {"error": "Expecting value"}}),
    (b"[]", {"type": "model_type", "loc": ["body"],
             "msg": "Input should be a valid dictionary or instance of KeyIn", "ctx": {"class_name": "KeyIn"}}),
    (b'"text"', {"type": "model_type", "loc": ["body"],
                 "msg": "Input should be a valid dictionary or instance of KeyIn", "ctx": {"class_name": "KeyIn"}}),
    (b"{}", {"type": "missing", "loc": ["body", "name"], "msg": "Field required"}),
    (b'{"name": false}', {"type": "string_type", "loc": ["body", "name"], "msg": "Input should be a valid string",
                          "input": False}),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), EXACT)
def test_an_invalid_body_is_reported_in_the_contract_s_form(api, body, expected):
    assert problem(api.post("/v1/auth/api-keys", body)) == expected


@pytest.mark.parametrize(
    ("method", "path", "body", "loc"),
    [
        ("POST", "auth/api-keys", b'{"name": 1e400}', ["name"]),
        ("POST", "auth/api-keys", b'{"name": "a", "more": {"x": [1, NaN]}}', ["more", "x", 1]),
        ("POST", "auth/api-keys", b'{"name": "\\u0000"}', ["name"]),
        ("POST", "auth/api-keys", b'{"name": "a", "name": "b"}', ["name"]),
        ("POST", "auth/otp/request", b'{"email": "\\ud800"}', ["email"]),
        ("PUT", "notice-settings", b'{"default_pack": "general", "placeholders": {"contact": "\\u0000"}}',
         ["placeholders", "contact"]),
    ],
)  # fmt: skip
def test_a_refused_value_is_reported_by_its_path_in_the_body(api, method, path, body, loc):
    reported = problem(api.client.generic(method, f"/v1/{path}", body, content_type="application/json"))
    assert (reported["type"], reported["loc"]) == ("json_invalid", ["body", *loc])


@pytest.mark.parametrize(
    ("method", "path", "body", "loc"),
    [
        ("PATCH", "notices/{}", {"content": {"main_factors": [{"statement": "\x00", "source": "a"}]}},
         ["content", "main_factors", 0, "statement"]),
        ("PATCH", "notices/{}", {"content": {CANARY: {"title": "\x00"}}}, ["content"]),
        ("PUT", "notices/{}/recipient", {"recipient": {CANARY: ["\x00"]}}, ["recipient"]),
        ("PUT", "notices/{}/recipient", {CANARY: "\x00"}, []),
    ],
)  # fmt: skip
def test_a_path_in_a_private_body_ends_before_the_first_unknown_name(api, method, path, body, loc):
    api.ingest({"decision_id": "x", "outcome": {"action": "denied"}})
    notice_id = api.post("/v1/decisions/x/notices", b"{}").json()["notice_id"]
    raw, path = json.dumps(body).encode(), f"/v1/{path.format(notice_id)}"
    answer = api.client.generic(method, path, raw, content_type="application/json")
    assert problem(answer)["loc"] == ["body", *loc]
    assert CANARY not in answer.content.decode()


def test_a_long_input_is_not_sent_back(api):
    assert "input" not in problem(api.ingest({"decision_id": "x" * 5000}))
    assert problem(api.ingest({"decision_id": "x" * 500}))["input"] == "x" * 500


@pytest.mark.parametrize("length", [256, 257])
def test_the_name_of_a_key_has_at_most_256_characters(api, length):
    answer = api.post("/v1/auth/api-keys", json.dumps({"name": "x" * length}).encode())
    if length == 256:
        assert answer.status_code == 201
    else:
        assert (problem(answer)["type"], problem(answer)["loc"]) == ("string_too_long", ["body", "name"])


def test_every_problem_of_a_body_is_reported_at_once(api):
    answer = api.post("/v1/auth/invites", b'{"email": 1}')
    assert [reported["loc"] for reported in answer.json()["detail"]] == [["body", "email"], ["body", "role"]]


def test_an_unknown_choice_lists_the_allowed_ones(api):
    reported = problem(api.post("/v1/auth/invites", b'{"email": "a@b.example", "role": "boss"}'))
    assert (reported["type"], reported["loc"], reported["input"]) == ("literal_error", ["body", "role"], "boss")
    assert re.findall(r"'(\w+)'", reported["ctx"]["expected"]) == [*MEMBER_ROLES]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"limit": "0"}, {"type": "greater_than_equal", "loc": ["query", "limit"], "input": "0", "ctx": {"ge": 1},
                          "msg": "Input should be greater than or equal to 1"}),
        ({"limit": "x"}, {"type": "int_parsing", "loc": ["query", "limit"], "input": "x",
                          "msg": "Input should be a valid integer, unable to parse string as an integer"}),
        ({"colour": "red"}, {"type": "extra_forbidden", "loc": ["query", "colour"], "input": "red",
                             "msg": "Extra inputs are not permitted"}),
        ({"limit": ["5", "9"]}, {"type": "repeated", "loc": ["query", "limit"], "msg": "Send it once"}),
        ({"cursor": "x"}, {"type": "value_error", "loc": ["query", "cursor"], "input": "x",
                           "msg": NO_CURSOR}),
    ],
)  # fmt: skip
def test_an_invalid_query_is_reported_in_the_same_form(api, query, expected):
    assert problem(api.get("/v1/decisions", **query)) == expected


def test_an_invalid_path_is_reported_in_the_same_form(api):
    reported = problem(api.get("/v1/decisions/" + "x" * 257))
    assert (reported["type"], reported["loc"], reported["ctx"]) == (
        "string_too_long", ["path", "decision_id"], {"max_length": 256},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/auth/otp/request", {"email": CANARY, "intent": 1}),
        ("/v1/auth/otp/request", {"email": [CANARY]}),
        ("/v1/auth/otp/verify", {"email": CANARY, "code": [CANARY]}),
        ("/v1/auth/second-factor", {"code": {CANARY: 1}}),
        ("/v1/auth/invites", {"email": CANARY, "role": "editor"}),
        ("/v1/auth/invites/accept", {"token": [CANARY]}),
        ("/v1/ingest/srf", {"decision_id": 1, "subject": CANARY}),
        ("/v1/ingest/srf", {"subject": CANARY}),
    ],
)
def test_private_values_are_not_echoed(api, path, body):
    answer = api.post(path, json.dumps(body).encode())
    assert answer.status_code == 422
    assert CANARY not in answer.content.decode()


@pytest.mark.parametrize(
    ("method", "path", "body", "content_type", "status", "sentence"),
    [
        ("GET", "/v1/decisions/none", b"", "", 404, "There is no decision of this id in your organization."),
        ("DELETE", "/v1/auth/api-keys/none", b"", "", 404, "There is no API key of this id in your organization."),
        ("GET", "/v1/nothing", b"", "", 404,
         "There is nothing at this path. The paths are listed in /v1/openapi.json."),
        ("PUT", "/v1/decisions", b"", "", 405, 'Method "PUT" not allowed.'),
        ("POST", "/v1/ingest/srf", b"{}", "text/plain", 415, NO_JSON),
        ("POST", "/v1/ingest/srf", b"{}", "application/json; charset=latin-1", 415, NO_JSON),
        ("POST", "/v1/ingest/srf/batch", b"{}", "application/json", 415,
         "Send the body as Content-Type: application/x-ndjson in UTF-8."),
        ("POST", "/v1/ingest/srf", b"x" * (2**20 + 1), "application/json", 413,
         "The body is larger than 1 MiB. Split it."),
    ],
)  # fmt: skip
def test_every_other_error_is_one_sentence(api, method, path, body, content_type, status, sentence):
    answer = api.client.generic(method, path, body, content_type=content_type)
    assert (answer.status_code, answer.json()) == (status, {"detail": sentence})


def test_a_refused_method_lists_the_allowed_ones(api):
    assert {"GET", "HEAD"} <= set(api.client.put("/v1/decisions")["Allow"].split(", ")) <= {"GET", "HEAD", "OPTIONS"}


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_database_outage_is_a_503_with_a_time_to_retry(api, monkeypatch, error):
    def fails(**_):
        raise error(f"could not write {CANARY}")

    monkeypatch.setattr(services, "ingest", fails)
    answer = api.ingest({"decision_id": "x"})
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert answer.json() == {"detail": "The database does not answer. Repeat the same request."}


@pytest.mark.parametrize("error", [RuntimeError, KeyError, IntegrityError, DataError, MemoryError, RecursionError])
def test_a_fault_of_the_service_is_a_500_that_does_not_quote_it(api, monkeypatch, error):
    def fails(**_):
        raise error(f"Key (decision_id)=({CANARY}) already exists.")

    monkeypatch.setattr(services, "ingest", fails)
    answer = api.ingest({"decision_id": "x"})
    assert answer.status_code == 500
    assert answer.json() == {"detail": "The service failed. Retrying is safe: a record is never kept twice."}


# ── errors of services: API, pages and commands each map them in one place ──


class Gone(NotFound):
    code = "gone"
    sentence = "It is gone."


class Taken(DomainError):
    code = "taken"
    sentence = "It is taken. Choose another."


class Down(Fault):
    code: ClassVar = "down"
    status: ClassVar = 503
    sentence = "It does not answer. Repeat the same request."


CASES = [(Gone, 404, None), (Taken, 409, None), (Down, 503, "5")]


def raising(error: type[DomainError], **more):
    def fails(*_, **__):
        raise error(because=f"not for callers: {CANARY}", **more)

    return fails


@pytest.mark.parametrize(("error", "status", "retry_after"), CASES)
def test_an_error_of_a_service_is_an_answer_of_the_api(api, monkeypatch, error, status, retry_after):
    monkeypatch.setattr(accounts, "create_api_key", raising(error))
    answer = api.post("/v1/auth/api-keys", b'{"name": "x"}')
    assert (answer.status_code, answer.json()) == (status, {"detail": error.sentence})
    assert answer.headers.get("Retry-After") == retry_after


@pytest.mark.parametrize(("error", "status", "retry_after"), CASES)
def test_an_error_of_a_service_is_a_page(monkeypatch, error, status, retry_after):
    monkeypatch.setattr(codes, "request_code", raising(error))
    answer = Browser().submit("/sign-in/", email="a@b.example")
    assert answer.status_code == status
    assert error.sentence in answer.content.decode()
    assert CANARY not in answer.content.decode()
    assert answer.headers.get("Retry-After") == retry_after


@pytest.mark.parametrize(("error", "status", "retry_after"), CASES)
def test_an_error_of_a_service_ends_a_command(monkeypatch, error, status, retry_after):
    monkeypatch.setattr(accounts, "create_organization", raising(error))
    monkeypatch.setattr(sys, "argv", ["manage.py", "create_organization", "Bank", "--owner", "a@b.example"])
    with pytest.raises(SystemExit) as end:
        manage.main()
    assert end.value.code == error.sentence, "which Python prints, with exit code 1"


def test_an_error_with_a_time_to_retry_has_it_everywhere(api, monkeypatch):
    monkeypatch.setattr(accounts, "create_api_key", raising(Down, retry_after=70))
    monkeypatch.setattr(codes, "request_code", raising(Down, retry_after=70))
    assert api.post("/v1/auth/api-keys", b'{"name": "x"}')["Retry-After"] == "70"
    assert Browser().submit("/sign-in/", email="a@b.example")["Retry-After"] == "70"


def test_a_page_under_the_wrong_master_key_says_what_to_do(organization, api, settings):
    page, settings.MASTER_KEYS = Browser(), [os.urandom(32)]
    token = page.csrf_token("/sign-in/")
    token_hashing.forget()
    answer = page.post("/sign-in/", {"email": "owner@bank.example", "csrfmiddlewaretoken": token})
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "must put that one back: in MASTER_KEY, or else as the file" in answer.content.decode()
    assert "accounts.Pepper" not in answer.content.decode()


@pytest.mark.once
@pytest.mark.parametrize("missing", [True, False], ids=["missing", "another"])
def test_a_command_under_the_wrong_master_key_says_what_to_do(shared_database, api, tmp_path, missing):
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("MASTER_KEY")}
    environment = {**inherited, "DATABASE_URL": shared_database, "DATA_DIR": str(tmp_path)}
    if not missing:
        environment["MASTER_KEY"] = "bm90IHRoZSBrZXkgdGhhdCB0aGV5IGFyZSB1bmRlciE="
    done = run_manage("create_api_key", "--organization", "example-bank", "--name", "x", environment=environment)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", MasterKeyWrong.sentence + "\n")


def test_a_command_under_an_invalid_setting_names_it(tmp_path):
    environment = {**os.environ, "DATA_DIR": str(tmp_path), "MASTER_KEY": "short"}
    done = run_manage("migrate", environment=environment)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "MASTER_KEY must be 32 bytes in base64, as `openssl rand -base64 32` makes them.\n"


@pytest.mark.parametrize("command", [["preview_notice", "-"], ["create_api_key", "--organization", "x", "--name", "x"]])
def test_a_command_on_an_unmigrated_database_says_what_to_do(tmp_path, command):
    inherited = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    done = run_manage(*command, environment={**inherited, "DATA_DIR": str(tmp_path)})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "The database does not have all tables of this version: run `manage.py migrate` first.\n"


def run_manage(*arguments: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return forks.run(forks.MANAGE, environment, *arguments)


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00%2B14:00", "9999-12-31T23:59:59-14:00"])
@pytest.mark.parametrize("name", ["received_from", "received_to", "decided_from", "decided_to"])
def test_a_filter_by_a_moment_outside_utc_s_years_does_not_fail(api, name, moment):
    assert api.client.get(f"/v1/decisions?{name}={moment}").status_code in (200, 422)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/auth/invites", {"email": "x" * 60 + "@" + "long." * 48 + "example", "role": "editor"}),
        ("/v1/auth/otp/request", {"email": "x" * 100_000}),
        ("/v1/auth/otp/request", {"email": "a@b.example", "intent": "x" * 65}),
        ("/v1/auth/otp/verify", {"email": "x" * 100_000, "code": "1" * 100_000}),
        ("/v1/auth/otp/verify", {"email": "a@b.example", "code": "\U0001f511"}),
        ("/v1/auth/second-factor", {"code": "x" * 100_000}),
        ("/v1/auth/invites/accept", {"token": "9" * 1000 + "-x"}),
        ("/v1/auth/api-keys", {"name": "x" * 1_000_000}),
        ("/v1/ingest/srf", {"decision_id": "x" * 257}),
        ("/v1/ingest/srf", {"decision_id": "x", "outcome": {"action": "y" * 100_000}}),
        ("/v1/ingest/srf", {"decision_id": "x", "decided_at": "0001-01-01T00:00:00+14:00"}),
        ("/v1/ingest/srf", {"decision_id": "x", "decided_at": "9999-12-31T23:59:59-14:00"}),
    ],
    ids=range(12),
)
def test_extreme_values_are_accepted_or_refused_without_a_fault(api, path, body):
    assert api.post(path, json.dumps(body).encode()).status_code < 500


@pytest.mark.parametrize("number", ["0", "9" * 18, "9" * 19, "9" * 40, "-1", "1.5", "x", "%00", "٣"])
@pytest.mark.parametrize("path", ["/v1/auth/invites/", "/v1/auth/members/", "/v1/auth/sessions/", "/v1/auth/api-keys/"])
def test_an_impossible_identifier_is_a_404(api, path, number):
    answer = api.client.delete(path + number)
    assert answer.status_code in ((401, 403, 404) if "sessions" in path else (404,))
