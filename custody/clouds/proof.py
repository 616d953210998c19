"""Asking the questions of a provider: in parallel, each for three seconds and once."""

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
"""Pattern of the one name that calls about objects may carry. It is random, so that there is no such object."""
Status = Literal["pass", "warn", "fail", "skipped"]
_LATER = "Try again later. If it persists, ask the provider."
_MENDS: dict[type[DomainError], str] = {
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
    vetted_http.ConnectionFailed: "Check host and port, and that no firewall is in the way.",
    vetted_http.TooSlow: _LATER,
    vetted_http.AnswerTooLarge: "Check the endpoint: this is not what it should be.",
    SecretUnavailable: "Ask the operator of this service to put the secret where secret_ref points.",
}


class CallRefused(Exception):
    """A call that is not on the list of what a test may send. It was not sent."""


class Finding(NamedTuple):
    """What an answer means. `fix` names the permission to grant or the setting to change."""

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
        """For pages."""
        return self.id.replace("_", " ").capitalize()

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Question:
    """Something to ask of a cloud.

    Attributes:
        call: the operation, as its provider calls it; "" where an earlier answer tells.
        permission: what that needs; "" where anybody may.
        ask: given the cloud; what it raises is for `Cloud.refusal`.
        needs: the question that must have been answered well before.
        if_denied: what it means that the permission is missing, where this is no failure.
        covers: the permissions of vaults and keys that the answer shows, where the check passes.
    """

    id: str
    call: str
    permission: str
    ask: Callable[[Any], Finding]
    needs: str = "credentials"
    if_denied: Status = "fail"
    covers: tuple[str, ...] = ()


@dataclass
class Cloud:
    """A configuration and what has been learned with it. Its questions are asked in several threads."""

    configuration: Any
    organization_id: uuid.UUID
    connections: Connections = field(init=False)
    errors: ClassVar[tuple[type[Exception], ...]]
    """What the cloud's library raises."""

    def __post_init__(self) -> None:
        self.connections = Connections(
            deadline=time.monotonic() + SECONDS,
            request_seconds=CALL_SECONDS,
            answer_bytes=2**20,
            guard=self.guard,
        )

    @cached_property
    def absent(self) -> str:
        """The name of an object that does not exist, below the prefix."""
        return f"{self.configuration.prefix}custody-test-{secrets.token_hex(16)}"

    def required(self) -> tuple[str, ...]:
        """Return the permissions and checks without which records cannot be stored or disposed of."""
        raise NotImplementedError

    def guard(self, method: str, host: str, target: str) -> None:
        """Below every client. Raises CallRefused."""

    def refusal(self, error: Exception, question: Question) -> Finding:
        """What one of `errors` means."""
        raise NotImplementedError


def ask_all(cloud: Cloud, questions: Sequence[Question], *, done: Callable[[int], object]) -> list[Check]:
    """Ask in rounds: whatever needs nothing more, together. Nothing is asked twice."""
    checks: dict[str, Check] = {}
    blocked: dict[str, str] = {}  # what failed, and what was not asked because of that: the title of what failed
    threads = ThreadPoolExecutor(len(questions), thread_name_prefix="custody-test")
    try:
        while left := [each for each in questions if each.id not in checks]:
            ready = [each for each in left if not each.needs or each.needs in checks]
            blocked |= {each.id: blocked[each.needs] for each in ready if each.needs in blocked}
            found = {each.id: not_asked(each, blocked[each.id]) for each in ready if each.id in blocked}
            found |= _round(cloud, [each for each in ready if each.id not in found], threads)
            blocked |= {name: check.title for name, check in found.items() if check.status == "fail"}
            checks.update(found)
            done(len(found))
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
    return [checks[each.id] for each in questions]


def not_proven(cloud: Cloud, questions: Sequence[Question], checks: Sequence[Check]) -> list[str]:
    """Return what storing or disposing of records needs and no check has shown."""
    passed_ids = {check.id for check in checks if check.status == "pass"}
    shown = passed_ids.union(*(question.covers for question in questions if question.id in passed_ids))
    return [name for name in cloud.required() if name not in shown]


def not_asked(question: Question, because: str) -> Check:
    return _check(question, skipped(f"Not asked, because the check “{because}” failed."))


def _round(cloud: Cloud, questions: Sequence[Question], threads: ThreadPoolExecutor) -> dict[str, Check]:
    asked = {each: threads.submit(_ask, cloud, each) for each in questions}
    wait(asked.values(), timeout=CALL_SECONDS)
    return {
        each.id: attempt.result() if attempt.done() else _check(each, _TOO_SLOW, CALL_SECONDS)
        for each, attempt in asked.items()
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
    except tuple(_MENDS) as error:
        return failed(error.sentence, _MENDS[type(error)])
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
    """Raises requests.exceptions.InvalidJSONError."""
    found = answer.json()
    if not isinstance(found, dict):
        raise requests.exceptions.InvalidJSONError
    return found


def denied(question: Question, on: str) -> Finding:
    """The permission is missing."""
    detail = f"The credentials may not do this: {question.permission} is not allowed."
    return Finding(question.if_denied, detail, f"Allow {question.permission} on {on}.")


def busy(what: str) -> Finding:
    return failed(f"The provider has an error of its own, or wants to be left alone ({what}).", _LATER)
