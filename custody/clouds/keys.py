"""What the key management services of all clouds have in common."""

import base64
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import requests
import structlog
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from urllib3.exceptions import HTTPError

from config.errors import DomainError, Fault
from config.vetted_http import Connections

log = structlog.get_logger("custody")

_REQUEST_SECONDS = 5
_ANSWER_BYTES = 2**16
_VETTED_SECONDS = 300
SECRET_BYTES = 32


class KmsUnavailable(Fault):
    """A key management service does not answer.

    Args:
        reason: what it says, for administrators: no secret, no record.
    """

    code = "kms_unavailable"
    status = 503
    sentence = (
        "The organization's key management service does not let its key be used right now. Nothing acknowledged is "
        "lost; repeat the same request."
    )

    def __init__(self, reason: str, *, retry_after: int | None = None) -> None:
        super().__init__(because=reason, retry_after=retry_after)
        self.reason = reason


class KmsRefused(KmsUnavailable):
    """It answers, and does not allow this: the key is disabled or gone, or the credentials may not use it."""


class NotWrappedByIt(ValueError):
    """What was to be unwrapped is nothing that this key wrapped for this organization."""


class Wrapped(NamedTuple):
    """A secret as a wrapping key wraps it.

    Attributes:
        key: the key as the service calls it.
        version: where unwrapping has to name one.
    """

    key: str
    version: str
    blob: bytes


class PublicKey(NamedTuple):
    """The public half of a signing key, and the key as the service calls it."""

    key: str
    public: PublicKeyTypes


class KeyService(Protocol):
    """The keys of one configuration. Every method raises KmsUnavailable, KmsRefused."""

    def new_secret(self) -> tuple[bytes, Wrapped]:
        """32 random bytes, and the same as `kms_key` wraps them for this organization."""

    def unwrap(self, wrapped: Wrapped) -> bytes:
        """Raises NotWrappedByIt."""

    def public_key(self) -> PublicKey:
        """Raises ValueError: it is no key that can sign here."""

    def sign(self, data: bytes, algorithm: str) -> bytes:
        """A signature as `signers.verifies` takes it; whoever stores it verifies it first.

        Args:
            algorithm: of the key.
        """


def connections() -> Connections:
    return Connections(request_seconds=_REQUEST_SECONDS, answer_bytes=_ANSWER_BYTES, vetted_seconds=_VETTED_SECONDS)


@contextmanager
def calling(call: str, trouble: type[Exception]) -> Iterator[None]:
    """Turns whatever goes wrong on the way to a service, and whatever its answer lacks, into KmsUnavailable. Where it
    is, its organization says, so it may answer anything.

    Args:
        call: what is asked for, as permissions name it.
        trouble: what its library raises.
    """
    try:
        yield
    except (Fault, NotWrappedByIt):
        raise
    except DomainError as error:
        raise KmsUnavailable(f"{call}: {error.sentence}") from error
    except (trouble, requests.RequestException, HTTPError) as error:
        raise KmsUnavailable(f"{call}: {type(error).__name__}") from error
    except Exception as error:
        log.error("a key management service's answer makes no sense", call=call, exc_info=error)
        raise KmsUnavailable(f"{call}: the answer makes no sense") from error


def answered(call: str, answer: requests.Response, *, damaged: str = "") -> dict[str, Any]:
    """The JSON that a service answers.

    Args:
        damaged: its word for a request whose content is none of its own.

    Raises:
        KmsUnavailable, KmsRefused
        NotWrappedByIt: as `damaged` has it.
    """
    if answer.status_code != 200:
        word = _word(answer)
        if damaged and word == damaged:
            raise NotWrappedByIt(f"{call}: {word}")
        is_theirs = answer.status_code == 429 or answer.status_code >= 500
        raise (KmsUnavailable if is_theirs else KmsRefused)(f"{call}: HTTP {answer.status_code} {word}".rstrip())
    found = answer.json()
    if not isinstance(found, dict):
        raise KmsUnavailable(f"{call}: the answer is no object")
    return found


def text(answer: Mapping[str, Any], name: str) -> str:
    """A text of an answer. Raises KmsUnavailable if it is not there."""
    found = answer.get(name)
    if not isinstance(found, str):
        raise KmsUnavailable(f"the answer has no {name}")
    return found


def octets(answer: Mapping[str, Any], name: str) -> bytes:
    """The bytes that a text of an answer spells in base64, or in its variant for addresses, which leaves out the
    padding. Raises KmsUnavailable."""
    value = text(answer, name).replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except ValueError:
        raise KmsUnavailable(f"{name} of the answer is no base64") from None


def _word(answer: requests.Response) -> str:
    """What a service calls its refusal, such as PERMISSION_DENIED or Forbidden; its sentences repeat what was sent."""
    try:
        error = answer.json()["error"]
        return str((error.get("innererror") or {}).get("code") or error.get("status") or error.get("code") or "")[:64]
    except (ValueError, KeyError, AttributeError, TypeError):
        return ""
