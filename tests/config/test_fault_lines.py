"""Every unexpected exception is one line in the log, with types and stack frames but no values."""

import asyncio
import json
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
import structlog
from django.db import OperationalError
from django.test import Client

import manage
from accounts.management.commands import create_organization
from accounts.services import sessions
from config import error_pages
from config.celery import app
from config.http import lanes
from config.http.views import ApiView
from config.logs import LibraryLines, report_failed_threads
from custody.vaults import VaultUnavailable
from decisions import services
from decisions.admin import DecisionAdmin
from notices import selectors
from tests.config.test_front import Exchange, ask, front
from tests.people import Browser
from tests.support.loops import run

pytestmark = pytest.mark.django_db

CANARY = "canary-3f9b"


class Unprintable(Exception):
    """An exception that fails when it is printed, and that is false."""

    def __str__(self) -> str:
        raise RuntimeError(CANARY)

    __repr__ = __str__

    def __bool__(self) -> bool:
        return False


class Unpicklable(Exception):
    def __init__(self, text: str, other: int) -> None:
        super().__init__(text)


def caused() -> Exception:
    error = RuntimeError(CANARY)
    error.__cause__ = KeyError(CANARY)
    error.__cause__.__context__ = error  # a ring
    return error


def grouped() -> Exception:
    return ExceptionGroup(CANARY, [ValueError(CANARY), ExceptionGroup(CANARY, [KeyError(CANARY)])])


KINDS: dict[str, tuple[Callable[[], Exception], set[str]]] = {
    "plain": (lambda: RuntimeError(CANARY), {"RuntimeError"}),
    "unprintable": (lambda: Unprintable(CANARY), {"Unprintable"}),
    "unpicklable": (lambda: Unpicklable(CANARY, 1), {"Unpicklable"}),
    "caused": (caused, {"RuntimeError", "KeyError"}),
    "grouped": (grouped, {"ExceptionGroup", "ValueError", "KeyError"}),
    "outage": (lambda: OperationalError(f"Key (decision_id)=({CANARY})"), {"OperationalError"}),
    "violation": (lambda: psycopg.errors.UniqueViolation(f"Key (name)=({CANARY})"), {"UniqueViolation"}),
}


@pytest.fixture
def unheard(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function that removes pytest's handlers, which print exceptions. pytest adds them after all fixtures."""

    def remove() -> None:
        root = logging.getLogger()
        ours = [handler for handler in root.handlers if isinstance(handler, LibraryLines)]
        monkeypatch.setattr(root, "handlers", ours)

    return remove


@pytest.fixture(params=KINDS)
def fault(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Return a function that raises."""
    make, _ = KINDS[request.param]

    def injected(*arguments: Any, **named: Any) -> Any:
        secret = CANARY  # noqa: F841 - locals are values, too
        raise make()

    injected.types = KINDS[request.param][1]
    return injected


def logged(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return the only line with an exception."""
    out, err = capsys.readouterr()
    assert CANARY not in out + err
    assert "Traceback" not in out + err
    (line,) = [line for line in map(json.loads, err.splitlines()) if "exception" in line]
    return line


def assert_describes(line: dict[str, Any], fault: Callable[..., Any]) -> None:
    assert {described["type"] for described in line["exception"]} >= fault.types
    places = [place for described in line["exception"] for place in described["frames"]]
    assert any(place.startswith("tests/config/test_fault_lines.py:") for place in places)
    assert not any("site-packages" in place for place in places)


# ── exceptions that Django handles ──


def test_a_fault_of_a_page_is_logged(monkeypatch, capsys, fault):
    monkeypatch.setattr(selectors, "published", fault)
    answer = Browser().get("/n/aaaaaaaaaaaa")
    assert answer.status_code in (500, 503)
    line = logged(capsys)
    assert line["request_id"] == answer["X-Request-ID"]
    assert_describes(line, fault)


def test_a_fault_of_the_back_office_is_logged(monkeypatch, capsys, fault, signed_in):
    browser = signed_in()
    capsys.readouterr()
    monkeypatch.setattr(DecisionAdmin, "get_queryset", fault)
    assert browser.get("/admin/decisions/decision/").status_code in (500, 503)
    assert_describes(logged(capsys), fault)


@pytest.mark.parametrize("path", ["/sign-in/", "/v1/decisions"])
def test_a_fault_of_middleware_is_logged(monkeypatch, capsys, fault, signed_in, path):
    browser = signed_in()
    capsys.readouterr()
    monkeypatch.setattr(sessions, "is_signed_in", fault)
    answer = browser.get(path)
    assert answer.status_code in (500, 503)
    assert answer["Content-Type"].startswith("application/json" if path.startswith("/v1/") else "text/html")
    assert_describes(logged(capsys), fault)


def test_a_fault_of_an_api_view_is_logged(monkeypatch, capsys, fault, api):
    monkeypatch.setattr(services, "ingest", fault)
    assert api.ingest({"decision_id": CANARY}).status_code in (500, 503)
    assert_describes(logged(capsys), fault)


def test_a_fault_outside_of_an_api_view_is_logged(monkeypatch, capsys, fault, api):
    monkeypatch.setattr(ApiView, "finalize_response", fault)
    answer = api.get("/v1/decisions")
    assert answer.status_code in (500, 503)
    assert list(answer.json()) == ["detail"]
    assert_describes(logged(capsys), fault)


def test_a_fault_of_the_error_page_is_logged_with_its_cause(monkeypatch, capsys, fault):
    monkeypatch.setattr(selectors, "published", fault)

    def fails(*_: Any) -> None:
        raise NotImplementedError(CANARY)

    monkeypatch.setattr(error_pages, "render_to_string", fails)
    assert Browser().get("/n/aaaaaaaaaaaa").status_code in (500, 503)
    line = logged(capsys)
    assert line["exception"][0]["type"] == "NotImplementedError"
    assert_describes(line, fault)


def test_an_expected_error_logs_no_exception(capsys, api):
    assert [Client().get("/nothing").status_code, api.get("/v1/decisions/none").status_code] == [404, 404]
    assert "exception" not in capsys.readouterr().err


# ── exceptions outside of Django ──


def test_a_fault_of_the_wsgi_application_is_logged(capsys, fault):
    passes = "OperationalError" in fault.types
    exchange = ask(Exchange(method="GET"), front(fault))
    assert (exchange.status, "retry-after" in exchange.headers) == ((503, True) if passes else (500, False))
    assert_describes(logged(capsys), fault)


def calling(error: BaseException) -> Callable[..., Any]:
    def application(*_: Any) -> None:
        raise error

    return application


def streaming(error: BaseException) -> Callable[..., Any]:
    def application(environ: Any, start_response: Callable[..., Any]) -> Iterator[bytes]:
        start_response("200 OK", [])
        yield b"{}"
        raise error

    return application


@pytest.mark.parametrize("when", [calling, streaming])
@pytest.mark.parametrize(
    "error",
    [SystemExit, asyncio.CancelledError, GeneratorExit, type("PanicException", (BaseException,), {}), ValueError],
)
def test_an_exception_that_ends_a_thread_is_logged(capsys, error, when):
    exchange = ask(Exchange(method="GET"), front(when(error(CANARY))))
    assert (exchange.status, list(exchange.json())) == (500, ["detail"])
    assert logged(capsys)["exception"][0]["type"] == error.__name__


def test_a_domain_error_within_an_answer_is_logged(capsys):
    exchange = ask(Exchange(method="GET"), front(streaming(VaultUnavailable(because=CANARY))))
    assert (exchange.status, exchange.headers["retry-after"]) == (503, "5")
    assert exchange.json() == {"detail": VaultUnavailable.sentence}
    assert logged(capsys)["exception"][0]["type"] == "VaultUnavailable"


def test_a_fault_of_a_lane_is_logged(capsys, fault):
    asked = front()

    async def lane(*_: Any) -> None:
        fault()

    asked.lanes["POST", "/v1/anything"] = lane
    assert ask(Exchange(b"{}", content_length="2"), asked).status == 200
    assert_describes(logged(capsys), fault)


def test_a_fault_of_building_lanes_is_logged(monkeypatch, capsys, fault):
    monkeypatch.setattr(lanes, "make_all", fault)
    sent = []

    async def live() -> None:
        messages = iter(["lifespan.startup", "lifespan.shutdown"])

        async def receive() -> dict[str, str]:
            return {"type": next(messages)}

        async def send(message: dict[str, str]) -> None:
            sent.append(message["type"])

        await front()({"type": "lifespan"}, receive, send)

    run(live())
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert_describes(logged(capsys), fault)


def test_a_fault_of_sending_an_answer_is_logged(capsys, fault):
    class Broken(Exchange):
        async def send(self, message: Any) -> None:
            fault()

    ask(Broken(method="GET"))
    assert_describes(logged(capsys), fault)


def test_a_fault_of_the_event_loop_is_logged(capsys, fault):
    async def calls_back() -> None:
        asyncio.get_running_loop().call_soon(fault, CANARY)
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    run(calls_back())
    assert_describes(logged(capsys), fault)


def test_a_fault_of_a_celery_task_is_logged(capsys, fault, unheard):
    unheard()
    name = f"tests.{sorted(fault.types)}"  # Celery identifies a task by its name
    app.task(name=name)(fault).apply()
    line = logged(capsys)
    assert line["task"] == name
    assert_describes(line, fault)


def test_a_fault_of_a_command_is_logged(monkeypatch, capsys, fault):
    monkeypatch.setattr(create_organization.Command, "handle", fault)
    monkeypatch.setattr(sys, "argv", ["manage.py", "create_organization", "Bank", "--owner", "a@b.example"])
    with pytest.raises(SystemExit) as end:
        manage.main()
    assert end.value.code == 1
    assert_describes(logged(capsys), fault)


def test_a_fault_of_a_thread_is_logged(monkeypatch, capsys, fault):
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)  # pytest's comes back
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    report_failed_threads()
    thread = threading.Thread(target=fault)
    thread.start()
    thread.join()
    assert_describes(logged(capsys), fault)


# ── lines of libraries, and long lines ──


@pytest.mark.parametrize("template", ["failed", "failed for %s"])
def test_a_library_s_line_has_its_template_without_arguments(capsys, fault, unheard, template):
    unheard()
    try:
        fault()
    except Exception as error:
        logging.getLogger("library").exception(template, *[error] * template.count("%"))
    line = logged(capsys)
    assert line["event"] == template
    assert_describes(line, fault)


def test_an_exception_that_a_library_logs_as_its_message_is_described(capsys, fault, unheard):
    unheard()
    try:
        fault()
    except Exception as error:
        logging.getLogger("library").error(error)
    assert_describes(logged(capsys), fault)


def test_a_deep_recursion_is_one_line_of_bounded_length(capsys):
    def deeper() -> None:
        deeper()

    try:
        deeper()
    except RecursionError:
        structlog.get_logger().exception("failed")
    assert len(logged(capsys)["exception"][0]["frames"]) <= 30
