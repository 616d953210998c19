"""Tests of real sources through `POST /v1/connectors/test`: each fault names its step and fix, and nothing is saved."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps

from connectors.services import trial
from tests.support.s3_server import S3Server, s3_server
from tests.support.web_server import Reply, Request, WebServer, json_reply
from tests.threads import HANGS_SECONDS

pytestmark = [pytest.mark.django_db, pytest.mark.once]
TOKEN = "t0ken-of-tests"
Serve = Callable[..., WebServer]
Try = Callable[..., dict[str, Any]]


def stored() -> dict[str, list[str]]:
    """Every row of every table; of keys, when they were used is no content."""
    models = [model for model in apps.get_models() if model.__name__ != "ApiKey"]
    return {model.__name__: sorted(str(row) for row in model._base_manager.values_list()) for model in models}


@pytest.fixture
def attempt(api: Any, settings: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Try:
    """Return a function that tests a source over the API, without repeating the secret or changing a table."""
    settings.SECRETS_DIR = tmp_path
    monkeypatch.setattr(trial, "SECONDS", HANGS_SECONDS)

    def made(kind: str, config: dict[str, Any], secret: str = "") -> dict[str, Any]:
        if secret:
            (tmp_path / "key").write_text(secret)
        body = {"kind": kind, "name": "Tried", "config": config, "secret_ref": "file:key" if secret else None}
        before = stored()
        answer = api.post("/v1/connectors/test", json.dumps(body).encode())
        assert answer.status_code == 200, answer.content
        assert stored() == before
        assert not secret or secret not in answer.content.decode()
        tested: dict[str, Any] = answer.json()
        assert tested["ok"] == all(step["ok"] for step in tested["steps"])
        return tested

    return made


def names(tested: dict[str, Any]) -> list[str]:
    return [step["name"] for step in tested["steps"]]


def failed(tested: dict[str, Any]) -> tuple[str, str]:
    """Return the failed step, which must be the last one, and its fix."""
    *done, last = tested["steps"]
    assert all(step["ok"] for step in done)
    assert not last["ok"]
    assert last["detail"]
    return last["name"], last["fix"]


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


@pytest.fixture
def bucket(s3: S3Server, trusted: Any) -> dict[str, str]:
    s3.client.put_object(Bucket="decisions", Key="a.json", Body=b'{"decision_id": "d-1"}')
    return {"bucket": "decisions", "endpoint": f"http://localhost:{s3.port}"}


def api_of(serve: Serve, answer: Callable[[Request], Reply]) -> dict[str, str]:
    return {"url": f"{serve(answer).url}/decisions"}


def test_a_good_source_names_every_step(attempt: Try, s3: S3Server, bucket: Any, serve: Serve) -> None:
    tested = attempt("s3", bucket, s3.secret)
    assert tested["ok"], tested
    assert names(tested) == ["configuration", "secret", "address", "connection", "signed in", "listed", "sample"]
    tested = attempt("http_json", api_of(serve, lambda _: json_reply([{"decision_id": "d-1"}])), TOKEN)
    assert tested["ok"], tested
    assert tested["steps"][-1]["detail"] == "the answer, item 1 is a record; its decision_id is d-1."


def test_a_wrong_key_no_permission_and_no_such_bucket_are_told_apart(attempt: Try, s3: S3Server, bucket: Any) -> None:
    wrong = attempt("s3", bucket, s3.secret[:-4] + "xxxx")
    powerless = attempt("s3", bucket, s3.powerless)
    absent = attempt("s3", {**bucket, "bucket": "absent"}, s3.root)
    failures = [failed(tested) for tested in (wrong, powerless, absent)]
    assert [step for step, _ in failures] == ["signed in", "listed", "listed"]
    for (_, fix), word in zip(failures, ("secret_ref", "s3:ListBucket", "bucket"), strict=True):
        assert word in fix, fix
    assert len({tested["steps"][-1]["detail"] for tested in (wrong, powerless, absent)}) == 3


def test_a_secret_that_is_absent_names_its_step(attempt: Try, bucket: Any) -> None:
    step, fix = failed(attempt("s3", bucket))
    assert (step, "secret_ref" in fix) == ("secret", True)


def test_a_private_address_names_its_step(attempt: Try, serve: Serve, settings: Any) -> None:
    config = api_of(serve, lambda _: json_reply([]))
    settings.ALLOWED_PRIVATE_HOSTS = []
    step, fix = failed(attempt("http_json", config, TOKEN))
    assert (step, "ALLOWED_PRIVATE_HOSTS" in fix) == ("address", True)


def test_a_certificate_that_proves_nothing_names_its_step(attempt: Try, serve: Serve) -> None:
    for server in (
        serve(lambda _: json_reply([]), "other.example"),
        serve(lambda _: json_reply([]), valid=timedelta(days=-1)),
    ):
        step, fix = failed(attempt("http_json", {"url": server.url}, TOKEN))
        assert (step, "certificate" in fix) == ("connection", True)


def test_a_source_that_takes_too_long_names_its_step(
    attempt: Try, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "SECONDS", 3)  # in which it has begun to answer

    def slow(_: Request) -> Reply:
        def pieces() -> Iterator[bytes]:
            while True:  # until who asks hangs up
                yield b" "
                time.sleep(0.1)

        return Reply(pieces())

    step, fix = failed(attempt("http_json", api_of(serve, slow), TOKEN))
    assert step == "answered"
    assert fix


def test_a_source_without_credentials_has_no_step_for_them(attempt: Try, serve: Serve) -> None:
    tested = attempt("http_json", api_of(serve, lambda _: json_reply([{"decision_id": "d-1"}])))
    assert names(tested) == ["configuration", "address", "connection", "answered", "listed", "sample"]


@pytest.mark.parametrize(
    ("body", "step", "fix"),
    [
        (b"<html>", "listed", "url"),
        (b'[{"id": 7, "name": "Jane Roe"}]', "sample", "decision_id"),
        (b'[{"decision_id": ""}]', "sample", "decision_id"),
    ],
)
def test_a_bad_item_names_its_step_and_is_not_repeated(
    attempt: Try, serve: Serve, body: bytes, step: str, fix: str
) -> None:
    tested = attempt(
        "http_json", api_of(serve, lambda _: Reply(body, 200, {"Content-Type": "application/json"})), TOKEN
    )
    where, shown = failed(tested)
    assert (where, fix in shown) == (step, True), tested
    assert "Jane" not in json.dumps(tested)
    reached = ["configuration", "secret", "address", "connection", "answered", "signed in", "listed"]
    assert names(tested) == (reached if step == "listed" else [*reached, step])
