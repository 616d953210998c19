"""The custody test by API, command and page: its limits, and that it repeats no secret."""

import io
import json
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command

from accounts import callers
from accounts.models import ApiKey
from accounts.roles import Role
from custody import services
from custody.clouds import proof
from custody.clouds.proof import Cloud, Question, ask_all, passed
from custody.clouds.proving import Proof
from custody.services import custody_test
from tests.support.web_server import Reply, web_server
from tests.threads import HANGS_SECONDS

pytestmark = [pytest.mark.django_db, pytest.mark.once]

CANARY = "canary-5d1b"
CONFIG = {"bucket": "records", "region": "eu-central-1", "secret_ref": "env:DRS_SECRET_CLOUD"}
PAGE = "/admin/custody/entry/clouds/"


def ask(api: Any, provider: str = "aws", **config: str) -> Any:
    return api.post("/v1/custody/test", json.dumps({"provider": provider, "config": config}).encode())


def rows() -> list[list[str]]:
    """Return all rows of the database, except when a key was last used."""
    models = [model for model in apps.get_models() if model is not ApiKey]
    return [sorted(map(str, model._base_manager.values_list())) for model in models]


@pytest.fixture
def closed(settings: Any, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return a valid configuration of a cloud that does not exist."""
    settings.ALLOWED_PRIVATE_HOSTS = ["localhost"]
    monkeypatch.setenv("DRS_SECRET_CLOUD", f"AKIA{CANARY}:{CANARY}")
    where = "http://localhost:1"
    return {**CONFIG, "endpoint": where, "kms_endpoint": where, "sts_endpoint": where}


def test_the_answer_has_every_check_and_saves_nothing(api: Any, closed: dict[str, str]) -> None:
    before = rows()
    answer = ask(api, **closed)
    assert answer.status_code == 200
    answered = answer.json()
    assert (answered["provider"], answered["ok"], answered["changed"]) == ("aws", False, False)
    checks = {check["id"]: check for check in answered["checks"]}
    assert list(checks)[:3] == ["configuration", "credentials", "bucket"]
    assert (checks["configuration"]["status"], checks["credentials"]["status"]) == ("pass", "fail")
    assert (checks["credentials"]["call"], "firewall" in checks["credentials"]["fix"]) == (
        "sts:GetCallerIdentity",
        True,
    )
    assert checks["bucket"]["status"] == "skipped"
    assert all(isinstance(check["latency_ms"], int) for check in answered["checks"])
    assert rows() == before


def test_no_secret_is_repeated_or_logged(api: Any, closed: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
    answers = [
        ask(api, **closed),
        ask(api, **{**closed, "secret_access_key": CANARY}),
        ask(api, **{**closed, "secret_ref": CANARY}),
        ask(api, **{**closed, "kms_key": CANARY, "endpoint": f"https://{CANARY}:x@storage.example"}),
        api.post("/v1/custody/test", json.dumps({"provider": CANARY}).encode().replace(b"canary", b"no")),
        api.post("/v1/custody/test", b'{"provider": "aws", "config": {"secret_ref": ["%s"]}}' % CANARY.encode()),
    ]
    assert CANARY not in "".join(answer.content.decode() for answer in answers)
    assert CANARY not in caplog.text


@pytest.mark.parametrize("role", [Role.APPROVER, Role.EDITOR, Role.AUDITOR, Role.SENDER])
def test_only_owners_and_admins_test(organization: Any, api_for: Any, role: Role) -> None:
    assert ask(api_for(organization, role)).status_code == 403


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make tests hang. Return an event that releases them, and a count of those that have begun."""
    let_go, begun = threading.Event(), threading.Semaphore(0)

    def prove(*_: Any, **__: Any) -> Proof:
        begun.release()
        let_go.wait(HANGS_SECONDS)
        return Proof([], [], [])

    monkeypatch.setattr(custody_test.proving, "prove", prove)
    yield let_go, begun
    let_go.set()


def test_two_tests_run_at_once_in_a_process_and_one_of_an_organization(
    api: Any, other_api: Any, held: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(custody_test, "SECONDS", HANGS_SECONDS)
    let_go, begun = held

    def test(organization_id: uuid.UUID) -> Any:
        return services.run_custody_test(caller=callers.system(organization_id), provider="aws", config={})

    with ThreadPoolExecutor(2) as others:
        running = [others.submit(test, api.organization.pk)]
        assert begun.acquire(timeout=HANGS_SECONDS)
        of_the_same = ask(api)
        assert of_the_same.status_code == 429
        assert int(of_the_same.headers["Retry-After"]) > 0
        running.append(others.submit(test, uuid.uuid4()))
        assert begun.acquire(timeout=HANGS_SECONDS)
        assert ask(other_api).status_code == 429
        let_go.set()
        assert all(test.result().ok for test in running)


def test_a_test_that_does_not_return_ends_anyway(api: Any, held: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(custody_test, "SECONDS", 0)
    answered = ask(api).json()
    assert (answered["ok"], answered["checks"][0]["id"], answered["checks"][0]["status"]) == (False, "time", "fail")


def test_the_limits_are_ten_seconds_in_all_and_three_a_call() -> None:
    assert (custody_test.SECONDS, proof.CALL_SECONDS) == (10, 3)
    for provider in ("aws", "gcp", "azure"):
        asked = {question.id: question for question in custody_test.proving.questions(provider)}
        rounds = max(_depth(asked, question) for question in asked)
        assert rounds * proof.CALL_SECONDS < custody_test.SECONDS


def _depth(asked: dict[str, Question], name: str) -> int:
    return 1 + (_depth(asked, asked[name].needs) if asked[name].needs else 0)


def test_calls_run_in_parallel_and_a_hanging_one_delays_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "CALL_SECONDS", 3)
    together, let_go = threading.Barrier(3), threading.Event()

    def meet(cloud: Any) -> Any:
        together.wait(HANGS_SECONDS)
        return passed("They met.")

    questions = [
        *(Question(name, "x", "", meet, needs="") for name in ("a", "b", "c")),
        Question("hangs", "x", "", lambda _: passed(str(let_go.wait(HANGS_SECONDS))), needs=""),
        Question("after it", "x", "", meet, needs="hangs"),
        Question("breaks", "x", "", lambda _: 1 / 0, needs=""),  # type: ignore[arg-type, return-value]
    ]
    counted: list[int] = []
    cloud = _Nowhere(None, uuid.uuid4())
    checks = {check.id: check for check in ask_all(cloud, questions, done=counted.append)}
    let_go.set()
    assert [checks[name].status for name in ("a", "b", "c")] == ["pass"] * 3
    assert (checks["hangs"].status, "no answer within" in checks["hangs"].detail) == ("fail", True)
    assert (checks["after it"].status, checks["breaks"].status) == ("skipped", "fail")
    assert sum(counted) == len(questions)


class _Nowhere(Cloud):
    errors = ()


def test_a_silent_host_is_waited_for_no_longer_than_a_call(
    api: Any, closed: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof, "CALL_SECONDS", 2)
    let_go = threading.Event()
    with web_server(lambda _: Reply(str(let_go.wait(HANGS_SECONDS)).encode())) as server:
        answered = ask(api, **{**closed, "sts_endpoint": server.url}).json()
        let_go.set()
        assert [check["status"] for check in answered["checks"][:2]] == ["pass", "fail"]
        assert len(server.requests) == 1  # it was not asked again


def test_the_command_shows_progress_and_a_checklist(
    organization: Any, closed: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = io.StringIO()
    with pytest.raises(CommandError, match="Nothing was changed"):
        call_command("custody_test", provider="aws", config=[f"{name}={closed[name]}" for name in closed], stdout=out)
    shown = out.getvalue()
    assert shown.startswith("pass    configuration: ")
    assert "fail    credentials (sts:GetCallerIdentity" in shown
    assert "-> Check host and port" in shown
    assert "Checks: 24 of 24, done" in capsys.readouterr().err
    assert CANARY not in shown
    with pytest.raises(CommandError, match="NAME=VALUE"):
        call_command("custody_test", provider="aws", config=["bucket"])
    with pytest.raises(CommandError, match="invalid choice"):
        call_command("custody_test", provider="ibm")


def test_the_page_has_a_field_for_each_setting_and_a_checklist(signed_in: Any, closed: dict[str, str]) -> None:
    browser = signed_in(Role.ADMIN)
    assert f"{PAGE}azure/" in browser.get(PAGE).content.decode()
    for provider in ("aws", "gcp", "azure"):
        assert 'name="secret_ref"' in browser.get(f"{PAGE}{provider}/").content.decode()
    answer = browser.submit(f"{PAGE}aws/", **closed)
    assert answer.status_code == 200
    shown = answer.content.decode()
    for text in ("The test failed", "Credentials", "sts:GetCallerIdentity", "no firewall", "Nothing was changed"):
        assert text in shown, text
    assert "<script" not in shown.partition("record-page")[2].partition("</section>")[0]
    assert browser.get(f"{PAGE}ibm/").status_code == 404


def test_the_page_does_not_show_possible_secrets_again(signed_in: Any) -> None:
    entered = {"bucket": "records", "secret_ref": f"AKIA:{CANARY}", "endpoint": f"https://me:{CANARY}@storage.example"}
    shown = signed_in(Role.OWNER).submit(f"{PAGE}aws/", **entered).content.decode()
    assert ("The test failed" in shown, "records" in shown, CANARY in shown) == (True, True, False)


def test_the_page_tells_a_member_who_may_not_test(signed_in: Any) -> None:
    browser = signed_in(Role.AUDITOR)
    assert "may not test the storage of a custody provider" in browser.get(f"{PAGE}aws/").content.decode()
    assert browser.submit(f"{PAGE}aws/", **CONFIG).status_code == 403
