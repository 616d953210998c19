"""Faults of a source for errors of connections and HTTP, each with a sentence, a fix and a cause."""

import errno
import socket
import ssl
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from email.utils import parsedate_to_datetime
from typing import Any, Literal, NamedTuple

import requests
import urllib3
from django.utils import timezone

from config import addresses, vetted_http
from config.errors import DomainError
from connectors.kinds.base import MachineFault, Source, SourceFault
from connectors.kinds.batch_bounds import MAX_RETRY_AFTER

Cause = Literal["config", "transient", "system"]


class _Fix(NamedTuple):
    fix: str
    cause: Cause


_LATER = "No action needed; it will be retried. If it persists, contact the source's operator."
_FIXES: dict[type[DomainError], _Fix] = {
    addresses.HostNotFound: _Fix("Check the spelling of the host.", "config"),
    addresses.AddressRefused: _Fix(
        "Use a public address, or ask the operator of this service to add the host to ALLOWED_PRIVATE_HOSTS.", "config"
    ),
    addresses.PlaintextRefused: _Fix(
        "Use TLS, or ask the operator of this service to add the host to ALLOWED_PRIVATE_HOSTS.", "config"
    ),
    vetted_http.CertificateRefused: _Fix(
        "Check that the host is spelled as in its certificate, and that the certificate is valid today. If your own "
        "authority issued it, ask the operator of this service to add that to TRUSTED_CA_FILE.",
        "config",
    ),
    vetted_http.ConnectionFailed: _Fix("Check host and port, and that no firewall blocks them. " + _LATER, "transient"),
    vetted_http.TooSlow: _Fix(_LATER, "transient"),
    vetted_http.AnswerTooLarge: _Fix("Ask the source for less at a time: smaller pages or objects.", "config"),
}
_NOT_TLS = {
    "BAD_RECORD_TYPE", "HTTP_REQUEST", "HTTPS_PROXY_REQUEST", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE",
    "UNKNOWN_PROTOCOL", "WRONG_VERSION_NUMBER",
}  # fmt: skip
"""Reasons that versions of OpenSSL give for an answer that is not TLS."""
_BROKEN = (requests.RequestException, urllib3.exceptions.HTTPError)


_NO_NETWORK = {errno.ENETDOWN, errno.ENETUNREACH, errno.ENONET}


def _is_offline(error: BaseException | None) -> bool:
    """Whether this machine, not the source, is to blame for a failed look-up or connection."""
    if isinstance(error, socket.gaierror):
        return error.errno == socket.EAI_AGAIN
    return isinstance(error, OSError) and error.errno in _NO_NETWORK


@contextmanager
def mapped() -> Iterator[None]:
    """Raise SourceFault for errors of connections and HTTP."""
    try:
        yield
    except SourceFault:
        raise
    except tuple(_FIXES) as error:
        if _is_offline(error.__context__):
            raise MachineFault(
                "No name could be looked up, or no network leads to the host.",
                fix="Ask the operator of this service to check the network of the machine that polls.",
                because=str(error),
            ) from None
        remedy = _FIXES[type(error)]
        raise SourceFault(error.sentence, fix=remedy.fix, cause=remedy.cause, because=str(error)) from None
    except _BROKEN as error:
        raise SourceFault(
            "The host closed the connection, or does not speak HTTP.",
            fix="Check host and port. " + _LATER,
            cause="transient",
            because=type(error).__name__,
        ) from None


@contextmanager
def step(source: Source[Any], name: str, detail: str) -> Iterator[None]:
    """Report a part of reading as a step, and map the errors within to faults."""
    with source.step(name, detail), mapped():
        yield


def required_secret(source: Source[Any]) -> str:
    """Return the secret. Raises SourceFault: the connector has none."""
    secret = source.secret()
    if not secret:
        with source.step("secret", ""):
            raise SourceFault("This connector needs a secret and has no secret_ref.", fix="Set secret_ref.")
    return secret


def connections(source: Source[Any]) -> vetted_http.Connections:
    """Return connections for reading this source, which report the steps `address` and `connection`.

    A port that accepts the connection but does not speak TLS fails a step `TLS`.
    """

    def stage(name: str) -> AbstractContextManager[None]:
        return _connected(source) if name == "connection" else step(source, name, "The host's address is allowed.")

    return vetted_http.Connections(deadline=source.deadline, stage=stage)


@contextmanager
def _connected(source: Source[Any]) -> Iterator[None]:
    refused: SourceFault | None = None
    with step(source, "connection", "The host takes the connection."):
        try:
            yield
        except vetted_http.ConnectionFailed as error:
            if not isinstance(error.__context__, ssl.SSLError):
                raise
            refused = _without_tls(error.__context__)
    if refused:
        with source.step("TLS", ""):
            raise refused


def _without_tls(error: ssl.SSLError) -> SourceFault:
    if error.reason in _NOT_TLS:
        return SourceFault("The port does not speak TLS.", fix="Use http://, or the right port.", because=error.reason)
    return SourceFault(
        "The host broke off while TLS was agreed on.",
        fix="Check that the port speaks TLS 1.2 or newer. If it speaks none, use http:// or the right port.",
        cause="transient",
        because=error.reason or type(error).__name__,
    )


def busy(sentence: str, retry_after: str | None = None) -> SourceFault:
    """Return the fault of a source that asks for fewer requests.

    Args:
        retry_after: the header of that name, in seconds or as a date.
    """
    return SourceFault(sentence, fix=_LATER, cause="transient", retry_after=_seconds(retry_after))


def _seconds(retry_after: str | None) -> int | None:
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        return min(int(text[:9]), MAX_RETRY_AFTER)
    try:
        seconds = (parsedate_to_datetime(text) - timezone.now()).total_seconds()
    except (ValueError, TypeError):  # TypeError: a date without a zone
        return None
    return min(max(int(seconds), 0), MAX_RETRY_AFTER)
