"""What went wrong below a kind, as a fault of its source: in a sentence, with its mend and its cause."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from email.utils import parsedate_to_datetime
from typing import Any, Literal, NamedTuple

import requests
import urllib3
from django.utils import timezone

from config import addresses, vetted_http
from config.errors import DomainError
from connectors.kinds.base import Source, SourceFault
from connectors.kinds.limits import LONGEST_RETRY_AFTER

Cause = Literal["config", "transient", "system"]


class _Mend(NamedTuple):
    fix: str
    cause: Cause


_LATER = "No action needed; it will be retried. If it persists, contact the source's operator."
_MENDS: dict[type[DomainError], _Mend] = {
    addresses.HostNotFound: _Mend("Check the spelling of the host.", "config"),
    addresses.AddressRefused: _Mend(
        "Use a public address, or ask the operator of this service to add the host to ALLOWED_PRIVATE_HOSTS.", "config"
    ),
    addresses.PlaintextRefused: _Mend(
        "Use TLS, or ask the operator of this service to add the host to ALLOWED_PRIVATE_HOSTS.", "config"
    ),
    vetted_http.CertificateRefused: _Mend(
        "Check that the host is spelled as in its certificate, and that the certificate is valid today. If your own "
        "authority issued it, ask the operator of this service to add that to TRUSTED_CA_FILE.",
        "config",
    ),
    vetted_http.ConnectionFailed: _Mend(
        "Check host and port, and that no firewall blocks them. " + _LATER, "transient"
    ),
    vetted_http.TooSlow: _Mend(_LATER, "transient"),
    vetted_http.AnswerTooLarge: _Mend("Ask the source for less at a time: smaller pages or objects.", "config"),
}
_BROKEN = (requests.RequestException, urllib3.exceptions.HTTPError)


@contextmanager
def mapped() -> Iterator[None]:
    """Raises SourceFault for what connecting and HTTP raise."""
    try:
        yield
    except SourceFault:
        raise
    except tuple(_MENDS) as error:
        mend = _MENDS[type(error)]
        raise SourceFault(error.sentence, fix=mend.fix, cause=mend.cause, because=str(error)) from None
    except _BROKEN as error:
        raise SourceFault(
            "The host closed the connection, or does not speak HTTP.",
            fix="Check host and port. " + _LATER,
            cause="transient",
            because=type(error).__name__,
        ) from None


@contextmanager
def step(source: Source[Any], name: str, detail: str) -> Iterator[None]:
    """A part of reading that a test shows by name, with faults below it mapped."""
    with source.step(name, detail), mapped():
        yield


def required_secret(source: Source[Any]) -> str:
    """Raises SourceFault where the connector has none."""
    secret = source.secret()
    if not secret:
        with source.step("secret", ""):
            raise SourceFault("This connector needs a secret and has no secret_ref.", fix="Set secret_ref.")
    return secret


def connections(source: Source[Any]) -> vetted_http.Connections:
    """Connections for reading this source; how far they come is shown as the steps `address` and `connection`."""
    details = {"address": "The host's address is allowed.", "connection": "The host accepts the connection."}

    def stage(name: str) -> AbstractContextManager[None]:
        return step(source, name, details[name])

    return vetted_http.Connections(deadline=source.deadline, stage=stage)


def busy(sentence: str, retry_after: str | None = None) -> SourceFault:
    """The source wants to be left alone for a while.

    Args:
        retry_after: the header of that name, in seconds or as a date.
    """
    return SourceFault(sentence, fix=_LATER, cause="transient", retry_after=_seconds(retry_after))


def _seconds(retry_after: str | None) -> int | None:
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        return min(int(text[:9]), LONGEST_RETRY_AFTER)
    try:
        seconds = (parsedate_to_datetime(text) - timezone.now()).total_seconds()
    except (ValueError, TypeError):  # TypeError: a date without its zone
        return None
    return min(max(int(seconds), 0), LONGEST_RETRY_AFTER)
