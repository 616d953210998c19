"""Questions of a custody test, asked in parallel: three seconds for each, without retries."""

import secrets
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import requests
import structlog
import urllib3

from config import addresses, vetted_http
from config.errors import DomainError
from config.secret_references import SecretUnavailable
from config.trials import SECONDS
from config.vetted_http import Connections
from custody.clouds import CloudRefusal

log = structlog.get_logger("custody")

CALL_SECONDS = 3.0
ABSENT = r"custody-test-[0-9a-f]{32}"
"""Pattern of the only object name in a call. It is random, so that no such object exists."""
Status = Literal["pass", "warn", "fail", "skipped"]
_OTHER = "Check the endpoint: this service is not safe for records."
_UNREACHABLE = (DomainError, requests.RequestException, urllib3.exceptions.HTTPError)
_LATER = "Try again later. If it persists, ask the provider."
_FIXES: dict[type[DomainError], str] = {
    addresses.HostNotFound: (
        "Check the region, the names of account and key vault, and the endpoints. If they are right, ask the operator "
        "of this service whether it can look up names on the internet."
    ),
    addresses.AddressRefused: (
        "Use a public address, or ask the operator of this service to add the host to ALLOWED_PRIVATE_HOSTS."
    ),
    addresses.PlaintextRefused: (
        "Use https://, or ask the operator of this service to add the host to ALLOWED_PRIVATE_HOSTS."
    ),
    vetted_http.CertificateRefused: (
        "Check how the host is spelled. If your own authority issued its certificate, ask the operator of this service "
        "to add that to TRUSTED_CA_FILE."
    ),
    vetted_http.ConnectionFailed: "Check host and port, and that no firewall blocks the connection.",
    vetted_http.TooSlow: _LATER,
    vetted_http.AnswerTooLarge: "Check the endpoint: this is not what it should be.",
    SecretUnavailable: "Ask the operator of this service to put the secret where secret_ref points.",
}


class CallRefused(Exception):
    """A call that a test may not send. It was not sent."""


class Finding(NamedTuple):
    """The meaning of an answer. `fix` names the permission to grant or the setting to change."""

    status: Status
    detail: str
    fix: str = ""


def passed(detail: str) -> Finding:
    return Finding("pass", detail)


def warned(detail: str, fix: str) -> Finding:
    return Finding("warn", detail, fix)


def failed(detail: str, fix: str) -> Finding:
    return Finding("fail", detail, fix)


def skipped(detail: str, fix: str = "") -> Finding:
    return Finding("skipped", detail, fix)


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the result."""

    id: str
    status: Status
    call: str
    permission: str
    detail: str
    fix: str
    latency_ms: int

    @property
    def title(self) -> str:
        """Return the title for pages."""
        return self.id.replace("_", " ").capitalize()

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a cloud.

    Attributes:
        call: the provider's name of the operation; "" where an earlier answer is reused.
        permission: the permission it needs; "" if it needs none.
        ask: the function that asks the cloud. `Cloud.refusal` explains its exceptions.
        needs: the question that must have passed before.
        if_denied: the status if the permission is missing.
        covers: the permissions of vaults and keys that are shown if the check passes.
        is_claim: whether the cloud is asked what it would permit, and no such call is tried.
    """

    id: str
    call: str
    permission: str
    ask: Callable[[Any], Finding]
    needs: str = "credentials"
    if_denied: Status = "fail"
    covers: tuple[str, ...] = ()
    is_claim: bool = False


@dataclass
class Cloud:
    """A configuration and what its questions have learned. Several threads ask."""

    configuration: Any
    organization_id: uuid.UUID
    connections: Connections = field(init=False)
    stored: list[str] = field(default_factory=list, init=False)
    """Names of objects that the cloud stored although no call could succeed, in the order of the calls."""
    lacking: dict[str, list[str]] = field(default_factory=dict, init=False)
    """The permissions that a claim denied, by question. The cloud granted the others that the question covers."""
    errors: ClassVar[tuple[type[Exception], ...]]
    """Exception types of the cloud's library."""

    def __post_init__(self) -> None:
        self.connections = Connections(
            deadline=time.monotonic() + SECONDS,
            request_seconds=CALL_SECONDS,
            answer_bytes=2**20,
            guard=self.guard,
        )

    @cached_property
    def absent(self) -> str:
        """Return a name that no object has, in the folder where a vault would put its objects."""
        return self.absent_name()

    def absent_name(self) -> str:
        return f"{self.configuration.folder}custody-test-{secrets.token_hex(16)}"

    def undo(self, name: str, remove: Callable[[], object]) -> Finding:
        """Remove what the cloud stored under this name despite the conditions of a call, and report it."""
        self.stored.append(name)
        expected: tuple[type[Exception], ...] = (*self.errors, *_UNREACHABLE)
        try:
            remove()
        except expected as error:
            log.warning("the object of a custody test stays", exc_info=error)
            return failed(
                f"The service ignored the conditions of the call and stored {name}.", f"Remove {name}. {_OTHER}"
            )
        return failed(f"The service ignored the conditions of the call and stored {name}. It was removed.", _OTHER)

    def required(self) -> tuple[str, ...]:
        """Return the permissions and checks without which records cannot be stored or disposed of."""
        raise NotImplementedError

    def guard(self, method: str, host: str, target: str) -> None:
        """Check a request that any client is about to send. Raises CallRefused."""

    def refusal(self, error: Exception, question: Question) -> Finding:
        """Explain an exception of one of the types `errors`."""
        raise NotImplementedError


def ask_all(cloud: Cloud, questions: Sequence[Question], *, done: Callable[[int], object]) -> list[Check]:
    """Ask all questions, each once. A round asks those whose `needs` are answered in parallel."""
    checks: dict[str, Check] = {}
    blocked: dict[str, str] = {}  # each failed or skipped question, with the title of the check that failed
    threads = ThreadPoolExecutor(len(questions), thread_name_prefix="custody-test")
    try:
        while left := [question for question in questions if question.id not in checks]:
            ready = [question for question in left if not question.needs or question.needs in checks]
            blocked |= {question.id: blocked[question.needs] for question in ready if question.needs in blocked}
            results = {
                question.id: not_asked(question, blocked[question.id]) for question in ready if question.id in blocked
            }
            results |= _round(cloud, [question for question in ready if question.id not in results], threads)
            blocked |= {name: check.title for name, check in results.items() if check.status == "fail"}
            checks.update(results)
            done(len(results))
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
    return [checks[question.id] for question in questions]


def not_proven(cloud: Cloud, questions: Sequence[Question], checks: Sequence[Check]) -> list[str]:
    """Return what storing or disposing of records needs and no check has shown.

    A call outweighs a claim: policies may claim what a call is refused, and withhold what a call may do.
    """
    status = {check.id: check.status for check in checks}
    passed_ids = {name for name, result in status.items() if result == "pass"}
    shown, refuted, claimed = set(passed_ids), set[str](), set[str]()
    for question in questions:
        covered = set(question.covers)
        if question.is_claim and (question.id in passed_ids or question.id in cloud.lacking):
            claimed |= covered.difference(cloud.lacking.get(question.id, ()))
        elif question.id in passed_ids:
            shown |= covered
        elif status[question.id] == "fail":
            refuted |= covered
    shown |= claimed - refuted
    return [name for name in cloud.required() if name not in shown]


def not_asked(question: Question, because: str) -> Check:
    return _check(question, skipped(f"Not asked, because the check “{because}” failed."))


def _round(cloud: Cloud, questions: Sequence[Question], threads: ThreadPoolExecutor) -> dict[str, Check]:
    asked = {question: threads.submit(_ask, cloud, question) for question in questions}
    wait(asked.values(), timeout=CALL_SECONDS)
    return {
        question.id: attempt.result() if attempt.done() else _check(question, _TOO_SLOW, CALL_SECONDS)
        for question, attempt in asked.items()
    }


_TOO_SLOW = failed(f"There was no answer within {CALL_SECONDS:.0f} seconds.", _LATER)


def _ask(cloud: Cloud, question: Question) -> Check:
    began = time.monotonic()
    finding = _finding(cloud, question)
    return _check(question, finding, time.monotonic() - began)


def _finding(cloud: Cloud, question: Question) -> Finding:
    try:
        return question.ask(cloud)
    except cloud.errors as error:
        return cloud.refusal(error, question)
    except CloudRefusal as error:
        return failed(error.what, error.fix)
    except tuple(_FIXES) as error:
        return failed(error.sentence, _FIXES[type(error)])
    except requests.exceptions.InvalidJSONError:
        return failed("The answer is not what was asked for.", "Check the endpoint: this is not what it should be.")
    except (requests.RequestException, urllib3.exceptions.HTTPError):
        return failed("The host closed the connection, or does not speak HTTP.", "Check host and port of the endpoint.")
    except Exception as error:
        log.error("a custody test failed", question=question.id, exc_info=error)
        return failed("The service failed at this.", "Ask the operator of this service to look at its log.")


def _check(question: Question, finding: Finding, seconds: float = 0.0) -> Check:
    took = round(seconds * 1000) if question.call else 0
    return Check(question.id, finding.status, question.call, question.permission, finding.detail, finding.fix, took)


def json_object(answer: requests.Response) -> dict[str, Any]:
    """Return an answer's JSON object. Raises requests.exceptions.InvalidJSONError."""
    content = answer.json()
    if not isinstance(content, dict):
        raise requests.exceptions.InvalidJSONError
    return content


def denied(question: Question, on: str) -> Finding:
    """Return the finding for a missing permission."""
    detail = f"The credentials may not do this: {question.permission} is not allowed."
    return Finding(question.if_denied, detail, f"Allow {question.permission} on {on}.")


def busy(what: str) -> Finding:
    return failed(f"The provider failed, or limits the rate of requests ({what}).", _LATER)
