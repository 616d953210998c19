"""Rationale and evidence references of a review: neither success nor failure leaves a trace of them.

A running service, with its worker and logs at DEBUG, receives two marked texts in every possible way, valid and
invalid. Then the tests search everything that it has written and answered.
"""

import json
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.reconsiderations.canaries import (
    EVIDENCE,
    EVIDENCE_MARK,
    RATIONALE,
    RATIONALE_MARK,
    Answer,
    Person,
    database_dump,
    files_below,
    run_command,
    traces,
)
from tests.reconsiderations.conftest import RAW, REVIEW
from tests.support.forks import CELERY
from tests.system.live import Server, server, wait_until, worker
from tests.throwaway import redis

pytestmark = pytest.mark.boots

MARKED = {**REVIEW, "rationale": RATIONALE, "evidence_considered": [EVIDENCE, EVIDENCE]}
GOOD = json.dumps(MARKED).encode()
URL = "/v1/decisions/loan-1/reconsideration"
WORKING_PATHS = [URL, f"{URL}/check"]


def with_field(name: str, value: object) -> bytes:
    return json.dumps({**MARKED, name: value}).encode()


MALFORMED = [
    GOOD[:-1],
    GOOD[:-1] + b", }",
    GOOD + b"x",
    GOOD.replace(RATIONALE_MARK.encode(), RATIONALE_MARK.encode() + b"\xff"),
    GOOD.replace(RATIONALE_MARK.encode(), RATIONALE_MARK.encode() + b"\\u0000"),
    GOOD.replace(RATIONALE_MARK.encode(), RATIONALE_MARK.encode() + b"\\ud800"),
    GOOD.replace(RATIONALE_MARK.encode(), RATIONALE_MARK.encode() + b"\n"),
    GOOD[:-1] + b', "rationale": "' + RATIONALE.encode() + b'"}',
    GOOD[:-1] + b', "x": {"' + RATIONALE.encode() + b'": 1, "' + RATIONALE.encode() + b'": 2}}',
    GOOD[:-1] + b', "x": NaN}',
    b"[" * 100 + json.dumps(RATIONALE).encode() + b"]" * 100,
    json.dumps(RATIONALE).encode(),
    json.dumps([RATIONALE, EVIDENCE]).encode(),
    json.dumps({RATIONALE: EVIDENCE}).encode(),
    RATIONALE.encode(),
    with_field("rationale", [RATIONALE]),
    with_field("rationale", {RATIONALE: RATIONALE}),
    with_field("evidence_considered", EVIDENCE),
    with_field("evidence_considered", {EVIDENCE: EVIDENCE}),
    with_field("evidence_considered", [EVIDENCE, None]),
    with_field("evidence_considered", [[EVIDENCE]]),
    with_field("evidence_considered", [{EVIDENCE: EVIDENCE}]),
    with_field("outcome", ""),
    with_field("outcome", "x" * 65),
    with_field("reviewer", None),
    with_field("rationale", RATIONALE * 23_000),
]


class Aftermath(NamedTuple):
    live: Server
    answers: list[Answer]
    printed: list[bytes]
    """The outputs of the commands."""
    queue: Path | None
    """A file with all commands that were sent to Redis."""


def send(live: Server, path: str, body: bytes, key: str | None = None, **headers: str) -> Answer:
    for _ in range(5):
        # A server that refuses a large body may close the connection while we still send: its answer is lost.
        with live.client(key) as client, suppress(BrokenPipeError, ConnectionResetError):
            answer = client.request("POST", path, body, **headers)
            return Answer(answer.status, bytes(answer.headers) + answer.body)
    raise AssertionError("no answer of the server could be read")


def through_the_api(live: Server) -> Iterator[Answer]:
    yield send(live, URL, GOOD)
    for path in WORKING_PATHS:
        for body in MALFORMED:
            yield send(live, path, body)
        yield send(live, path, GOOD, Content_Type="text/plain")
        yield send(live, path, GOOD, Content_Type="application/x-www-form-urlencoded")
        yield send(live, path, GOOD, key="drs_0123456789abcdef_x")
        yield send(live, path.replace("loan-1", "loan-9"), GOOD)
        yield send(live, path + "/nowhere", GOOD)
    with live.client() as client:
        for method in ("PUT", "PATCH", "DELETE", "GET"):
            answer = client.request(method, URL, GOOD)
            yield Answer(answer.status, bytes(answer.headers) + answer.body)
    yield send(live, "/v1/ingest/srf", GOOD)


def recorded_id(live: Server) -> str:
    with live.client() as client:
        return client.get("/v1/decisions/loan-1").json()["latest_reconsideration"]


def checks(live: Server) -> Iterator[Answer]:
    path = f"/v1/decisions/{recorded_id(live)}/reconsideration/check"
    answer = send(
        live, path, json.dumps({"rationale": RATIONALE, "evidence_considered": [EVIDENCE, RATIONALE]}).encode()
    )
    assert answer.whole.endswith(b'{"rationale":true,"evidence_considered":[true,false]}')
    yield answer


def page_of_the_decision(live: Server) -> str:
    ((pk,),) = live.sql("SELECT record_id FROM decisions_decision WHERE decision_id = 'loan-1'")
    return f"/admin/decisions/decision/{pk}/"


def form(**changes: str) -> dict[str, str]:
    """Return the fields of a new form."""
    fields = {**REVIEW, "rationale": RATIONALE, "evidence_considered": f"{EVIDENCE}\r\n{EVIDENCE}"}
    return {**fields, "idempotency_key": str(uuid.uuid4()), **changes}


def through_the_back_office(live: Server, person: Person) -> None:
    page, to = f"{page_of_the_decision(live)}change/", f"{page_of_the_decision(live)}reconsider/"
    statuses = [
        person.submit(page, to, **form()).status,
        person.submit(page, to, **form(reviewer="")).status,
        person.submit(page, to, **form(outcome="x" * 65)).status,
        person.submit(page, to, **form(rationale=f"\0{RATIONALE}")).status,
        person.submit(page, to, **form(rationale=RATIONALE * 23_000)).status,
        person.request(to, form()).status,
        person.submit(page, f"/admin/decisions/decision/{uuid.uuid4()}/reconsider/", **form()).status,
        person.submit(page, page, **form()).status,
    ]
    assert statuses[:4] == [200, 422, 422, 422]
    assert statuses[4:7] == [400, 403, 404]
    for path in (page, f"{page[:-7]}history/", "/admin/", "/admin/accounts/auditevent/", "/admin/decisions/decision/"):
        person.request(path)


def by_command(live: Server, directory: Path) -> Iterator[bytes]:
    file = directory / "text"
    file.write_text(RATIONALE)
    recorded, rationale = recorded_id(live), RATIONALE.encode()
    for decision_id, source, text in (
        (recorded, "-", rationale),
        (recorded, str(file), b""),
        (recorded, "-", EVIDENCE.encode()),
        ("loan-1", "-", rationale),
        ("loan-9", "-", rationale),
        (recorded, "-", rationale + b"\xff"),
    ):
        options = ["--organization", "live-bank", "--text", source, "--traceback"]
        code, printed = run_command(live, "check_reconsideration", decision_id, *options, text=text)
        yield b"exit %d\n" % code + printed


@contextmanager
def a_table_missing(live: Server) -> Iterator[None]:
    """Rename tables, so that the database refuses in the middle of an ingest: an unforeseen fault."""
    tables = ("custody_sealedobject", "custody_waitingobject")
    for table in tables:
        live.sql(f"ALTER TABLE {table} RENAME TO away_{table}")
    yield
    for table in tables:
        live.sql(f"ALTER TABLE away_{table} RENAME TO {table}")


@contextmanager
def no_vault(live: Server) -> Iterator[None]:
    vault = live.data_dir / "vault"
    vault.rename(live.data_dir / "away")
    vault.write_text("no directory")
    yield
    vault.unlink()
    (live.data_dir / "away").rename(vault)


def while_it_fails(live: Server, person: Person) -> Iterator[Answer]:
    path = page_of_the_decision(live)
    token = person.token(f"{path}change/")
    recorded = recorded_id(live)
    for where in (URL, f"/v1/decisions/{recorded}/reconsideration/check"):
        yield send(live, where, GOOD)
    yield person.request(f"{path}reconsider/", {**form(), "csrfmiddlewaretoken": token})


@pytest.fixture(scope="module", params=["filesystem and Redis", "database with DEBUG"])
def aftermath(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aftermath]:
    with ExitStack() as stack:
        settings = {"LOG_LEVEL": "DEBUG", "CODES_PER_HOUR": "1000", "CODES_PER_HOUR_AND_CLIENT": "1000"}
        settings["ANONYMOUS_REQUESTS_PER_MINUTE"] = "0"
        queue = None
        if "DEBUG" in request.param:
            settings |= {"DEBUG": "1", "LOG_FORMAT": "json"}
        if "Redis" in request.param:
            settings |= {"CUSTODY_VAULT": "filesystem", "REDIS_URL": stack.enter_context(redis())}
            log = tmp_path_factory.mktemp("redis") / "commands"
            queue = stack.enter_context(monitored(settings["REDIS_URL"], log))
        live = stack.enter_context(server(workers=1, **settings))
        stack.enter_context(worker(live))
        with live.client() as client:
            assert client.ingest(RAW).status == 201
        person = Person(live)
        person.sign_in("owner@live.example")
        answers = [*through_the_api(live), *checks(live)]
        through_the_back_office(live, person)
        printed = list(by_command(live, tmp_path_factory.mktemp("texts")))
        with a_table_missing(live):
            answers += while_it_fails(live, person)
        if queue:
            with no_vault(live):
                answers += while_it_fails(live, person)
            live.sql("UPDATE custody_waitingobject SET lease_until = '2000-01-01 00:00:00'")
            call = ["-A", "config", "call", "custody.tasks.reconcile"]
            assert live.fork(CELERY, call, live.directory / "call.log").wait() == 0
            wait_until(lambda: not live.sql("SELECT 1 FROM custody_entry WHERE state = 'reserved'"), "all is stored")
        yield Aftermath(live, answers + person.answers, printed, queue)


@contextmanager
def monitored(url: str, log: Path) -> Iterator[Path]:
    """Have Redis log every command with its arguments."""
    with log.open("wb") as file:
        listening = subprocess.Popen(["redis-cli", "-u", url, "monitor"], stdin=subprocess.DEVNULL, stdout=file)
    wait_until(lambda: b"OK" in log.read_bytes(), "Redis logs commands")
    try:
        yield log
    finally:
        listening.terminate()
        listening.wait()


def test_the_requests_had_every_kind_of_result(aftermath):
    """Reviews were recorded, requests were refused, and the service failed, so the searches are meaningful."""
    statuses = {answer.status for answer in aftermath.answers}
    assert statuses >= {200, 201, 400, 401, 403, 404, 405, 409, 413, 415, 422}
    assert statuses & {500, 503}
    assert (202 in statuses) == bool(aftermath.queue)
    assert [text.split(b"\n")[0] for text in aftermath.printed] == [b"exit %d" % code for code in (0, 0, 1, 1, 1, 1)]
    assert len(aftermath.live.sql("SELECT 1 FROM decisions_decision WHERE kind = 'reconsideration'")) >= 2


def test_no_answer_repeats_a_text(aftermath):
    """Validation errors, pages with a refused form and pages about a fault are all searched."""
    results = [(answer.status, traces([answer.whole], b"")) for answer in aftermath.answers]
    assert [result for result in results if result[1]] == []


def test_no_command_repeats_a_text(aftermath):
    assert traces(aftermath.printed, b"This is the text that was committed to.") == []


def test_no_text_is_in_the_database(aftermath):
    assert traces([database_dump(aftermath.live.environment["DATABASE_URL"])], b"application 7") == []


def test_no_text_is_in_the_vault_the_queue_the_keys_or_the_mails(aftermath):
    files = list(files_below(aftermath.live.data_dir))
    assert len(files) > 3
    assert traces(files, b"To: owner@live.example") == []


def test_no_text_is_in_the_logs_at_debug(aftermath):
    live = aftermath.live
    for log, control in ((live.log, b'"route": "v1/decisions/<any:decision_id>/reconsideration"'),
                         (live.directory / "worker.log", b"deliver_mail")):  # fmt: skip
        assert traces([log.read_bytes()], control) == []


def test_no_text_was_sent_to_redis(aftermath):
    if aftermath.queue is None:
        assert "REDIS_URL" not in aftermath.live.environment
        return
    assert traces([aftermath.queue.read_bytes()], b"accounts.tasks.deliver_mail") == []


def test_no_text_is_in_a_session_or_the_back_offices_history(aftermath):
    """Sessions are compressed, so a search of their bytes is not enough."""
    program = (
        "from django.contrib.sessions.models import Session; from django.contrib.admin.models import LogEntry;"
        "print([s.get_decoded() for s in Session.objects.all()], list(LogEntry.objects.values()))"
    )
    assert traces([aftermath.live.manage("shell", "-c", program).encode()], b"_auth_user_id") == []


def test_the_search_finds_the_marks():
    assert traces([GOOD], EVIDENCE_MARK.encode()) != []
    assert traces([GOOD.hex().encode()], EVIDENCE_MARK.encode().hex().encode()) != []
