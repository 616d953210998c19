"""Key management services: the protocol of all clouds, and the reading of their answers."""

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
        reason: the service's own reason, for administrators. It has no secret and nothing of a record.
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
    """The service answers and refuses: the key is disabled or gone, or the credentials may not use it."""


class NotWrappedByIt(ValueError):
    """The ciphertext was not wrapped by this key for this organization."""


class Wrapped(NamedTuple):
    """A secret encrypted by a wrapping key.

    Attributes:
        key: the service's name of the key.
        version: the key's version, for services whose unwrap call needs one.
    """

    key: str
    version: str
    blob: bytes


class PublicKey(NamedTuple):
    """The public half of a signing key, with the service's name of the key."""

    key: str
    public: PublicKeyTypes


class KeyService(Protocol):
    """The keys of one configuration. Every method raises KmsUnavailable and KmsRefused."""

    def new_secret(self) -> tuple[bytes, Wrapped]:
        """Return 32 random bytes, and the same wrapped by `kms_key` for this organization."""

    def unwrap(self, wrapped: Wrapped) -> bytes:
        """Return the secret. Raises NotWrappedByIt."""

    def public_key(self) -> PublicKey:
        """Return the public half of `signing_key`. Raises ValueError: the key cannot sign here."""

    def sign(self, data: bytes, algorithm: str) -> bytes:
        """Return a signature in the form that `signers.verifies` takes. The caller verifies it before storing it.

        Args:
            algorithm: the key's algorithm.
        """


def connections() -> Connections:
    return Connections(request_seconds=_REQUEST_SECONDS, answer_bytes=_ANSWER_BYTES, vetted_seconds=_VETTED_SECONDS)


@contextmanager
def calling(call: str, trouble: type[Exception]) -> Iterator[None]:
    """Turn every failure of a call, and every gap in its answer, into KmsUnavailable. The organization chooses the
    endpoint, so it may answer anything.

    Args:
        call: the operation, named like its permission.
        trouble: the exception type of the cloud's library.
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
    """Return the JSON object of a service's answer.

    Args:
        damaged: the service's error code for a ciphertext that it did not make.

    Raises:
        KmsUnavailable, KmsRefused
        NotWrappedByIt: the error code is `damaged`.
    """
    if answer.status_code != 200:
        word = _word(answer)
        if damaged and word == damaged:
            raise NotWrappedByIt(f"{call}: {word}")
        is_theirs = answer.status_code == 429 or answer.status_code >= 500
        raise (KmsUnavailable if is_theirs else KmsRefused)(f"{call}: HTTP {answer.status_code} {word}".rstrip())
    content = answer.json()
    if not isinstance(content, dict):
        raise KmsUnavailable(f"{call}: the answer is no object")
    return content


def text(answer: Mapping[str, Any], name: str) -> str:
    """Return a text of an answer. Raises KmsUnavailable if it is missing."""
    value = answer.get(name)
    if not isinstance(value, str):
        raise KmsUnavailable(f"the answer has no {name}")
    return value


def octets(answer: Mapping[str, Any], name: str) -> bytes:
    """Decode a base64 text of an answer, also in the URL-safe alphabet without padding. Raises KmsUnavailable if it is
    missing or not base64."""
    value = text(answer, name).replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except ValueError:
        raise KmsUnavailable(f"{name} of the answer is no base64") from None


def _word(answer: requests.Response) -> str:
    """Return a service's error code, such as PERMISSION_DENIED or Forbidden. Its message could repeat what was sent."""
    try:
        error = answer.json()["error"]
        return str((error.get("innererror") or {}).get("code") or error.get("status") or error.get("code") or "")[:64]
    except (ValueError, KeyError, AttributeError, TypeError):
        return ""
