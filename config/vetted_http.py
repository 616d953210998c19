"""HTTP to hosts from user input.

Each host is resolved once, and only its vetted addresses are contacted. TLS is verified against the name. Redirects are
not followed, and proxies and passwords in this process's environment are ignored. Time and size are limited at the
socket: a host that sends a byte a second stays within every timeout of `requests`.

    connections = Connections(deadline=time.monotonic() + 60)
    connections.session().get("https://example.org/")

`requests`, and cloud clients built on it or on urllib3, raise the errors of this module unchanged.
"""

import math
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar

import certifi
import requests
from django.conf import settings
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.poolmanager import PoolManager
from urllib3.response import HTTPResponse

from config import addresses
from config.addresses import Address
from config.errors import DomainError

Guard = Callable[[str, str, str], None]
"""Receives method, host and target (path and query) of each request before it is sent. Raises to forbid it."""
Stage = Callable[[str], AbstractContextManager[None]]
"""Wraps a stage of connecting, `address` or `connection`, so that a caller can show progress."""

_CONNECT_SECONDS = 5.0
_IDLE_SECONDS = 20.0
_MAX_IDLE_CONNECTIONS = 32
"""Idle connections to a host that are reused, for several threads."""


class CertificateRefused(DomainError):
    """The host's certificate does not prove its name."""

    code: ClassVar = "certificate_refused"
    status: ClassVar = 503
    sentence = "The certificate of this host was refused."


class ConnectionFailed(DomainError):
    """The host is unreachable, or the connection broke."""

    code: ClassVar = "connection_failed"
    status: ClassVar = 503
    sentence = "The host does not take connections, or broke this one off."


class TooSlow(DomainError):
    """The host did not answer in time."""

    code: ClassVar = "too_slow"
    status: ClassVar = 503
    sentence = "The host did not answer in time."


class AnswerTooLarge(DomainError):
    """The answer exceeds its size limit."""

    code: ClassVar = "answer_too_large"
    status: ClassVar = 503
    sentence = "The answer of the host is larger than what is read."


@dataclass
class Connections:
    """Connections for one purpose, until a deadline or without one. Several threads may use them.

    Args:
        deadline: limit for all requests together, by `time.monotonic()`.
        request_seconds: limit for each request, from the first byte sent to the last byte read.
        answer_bytes: limit for each answer, as received.
        stage: see `Stage`.
        guard: see `Guard`.
        vetted_seconds: how long a host's addresses are remembered. Only new connections use them.
    """

    deadline: float = math.inf
    request_seconds: float = 60.0
    answer_bytes: int = 64 * 2**20
    stage: Stage = lambda _: nullcontext()
    guard: Guard = lambda method, host, target: None
    vetted_seconds: float = math.inf
    _vetted: dict[tuple[str, int, bool], tuple[list[Address], float]] = field(default_factory=dict)

    def session(self) -> requests.Session:
        """Return a session of `requests` that uses only these connections."""
        session = VettedSession()
        self.mount(session)
        return session

    def mount(self, session: requests.Session) -> None:
        """Make an existing session use only these connections."""
        session.trust_env = False
        for scheme in ("https://", "http://"):
            session.mount(scheme, _Adapter(self))

    @cached_property
    def pools(self) -> PoolManager:
        """Return pools for clients that use urllib3 directly."""
        return _Pools(self)

    def vet(self, host: str, port: int, *, encrypted: bool) -> list[Address]:
        key = (host, port, encrypted)
        with self.stage("address"):
            vetted, until = self._vetted.get(key, ([], -math.inf))
            if time.monotonic() >= until:
                vetted = addresses.resolve(host, port, encrypted=encrypted)
                self._vetted[key] = vetted, time.monotonic() + self.vetted_seconds
        return vetted

    def connect(self, host: str, port: int, *, encrypted: bool) -> socket.socket:
        seconds = max(min(self.deadline - time.monotonic(), _CONNECT_SECONDS), 0.1)
        try:
            return addresses.connect_to(self.vet(host, port, encrypted=encrypted), timeout=seconds)
        except TimeoutError as error:
            raise TooSlow(because=str(error)) from None
        except OSError as error:
            raise ConnectionFailed(because=str(error)) from None

    def allowance(self) -> "_Allowance":
        return _Allowance(min(self.deadline, time.monotonic() + self.request_seconds), self.answer_bytes)


def trusted_ca_file() -> str:
    """Return the PEM file of trusted certificate authorities."""
    return settings.TRUSTED_CA_FILE or certifi.where()


class VettedSession(requests.Session):
    """A session that never follows redirects."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        return None


@dataclass
class _Allowance:
    """The time and bytes that one request may still use."""

    deadline: float
    bytes_left: int

    def seconds(self) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TooSlow
        return min(left, _IDLE_SECONDS)

    def spend(self, count: int) -> None:
        self.bytes_left -= count
        if self.bytes_left < 0:
            raise AnswerTooLarge


class _Bounded:
    """A mixin for sockets: reading uses up the current request's allowance, and sending has its deadline."""

    allowance: _Allowance | None = None

    def sendall(self, *args: Any) -> None:
        self._bound()
        super().sendall(*args)  # type: ignore[misc]

    def send(self, *args: Any) -> int:
        """Send some bytes. TLS calls this for each piece."""
        self._bound()
        return super().send(*args)  # type: ignore[misc, no-any-return]

    def _bound(self) -> None:
        if self.allowance is not None:
            self.settimeout(self.allowance.seconds())  # type: ignore[attr-defined]

    def recv_into(self, *args: Any) -> int:
        if self.allowance is None:
            return super().recv_into(*args)  # type: ignore[misc, no-any-return]
        self.settimeout(self.allowance.seconds())  # type: ignore[attr-defined]
        try:
            count: int = super().recv_into(*args)  # type: ignore[misc]
        except TimeoutError:
            raise TooSlow from None
        except OSError as error:
            raise ConnectionFailed(because=str(error)) from None
        self.allowance.spend(count)
        return count


class _PlainSocket(_Bounded, socket.socket):
    pass


class _TlsSocket(_Bounded, ssl.SSLSocket):
    pass


class _Vetted:
    """A mixin for urllib3's connections."""

    encrypted = False
    host: str
    port: int
    sock: Any

    def __init__(self, *args: Any, connections: Connections, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._connections = connections
        self._allowance = connections.allowance()

    def connect(self) -> None:
        self._connections.vet(self.host, self.port, encrypted=self.encrypted)
        with self._connections.stage("connection"):
            try:
                super().connect()  # type: ignore[misc]
            except ssl.SSLCertVerificationError as error:
                raise CertificateRefused(because=error.verify_message) from None
            except TimeoutError:
                raise TooSlow from None
            except OSError as error:  # including TLS errors
                raise ConnectionFailed(because=str(error)) from None
        self.sock.allowance = self._allowance

    def _new_conn(self) -> socket.socket:
        raw = self._connections.connect(self.host, self.port, encrypted=self.encrypted)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self.encrypted:
            return raw
        plain = _PlainSocket(fileno=raw.detach())
        plain.settimeout(_IDLE_SECONDS)
        return plain

    def request(self, method: str, url: str, *args: Any, **kwargs: Any) -> None:
        self._connections.guard(method, self.host, url)
        self._allowance = self._connections.allowance()
        if self.sock is not None:
            self.sock.allowance = self._allowance
        super().request(method, url, *args, **kwargs)  # type: ignore[misc]

    def getresponse(self) -> HTTPResponse:
        """Return the answer without its content encoding: a client that decompresses would have no size limit."""
        response: HTTPResponse = super().getresponse()  # type: ignore[misc]
        response.headers.discard("content-encoding")
        return response


class _Http(_Vetted, HTTPConnection):  # type: ignore[misc]
    pass


class _Https(_Vetted, HTTPSConnection):  # type: ignore[misc]
    encrypted = True


class _Pools(PoolManager):
    def __init__(self, connections: Connections) -> None:
        context = ssl.create_default_context(cafile=trusted_ca_file())
        context.sslsocket_class = _TlsSocket
        super().__init__(ssl_context=context, retries=False, maxsize=_MAX_IDLE_CONNECTIONS)
        self._classes = {
            "http": partial(_Http, connections=connections),
            "https": partial(_Https, connections=connections),
        }

    def _new_pool(self, scheme: str, host: str, port: int, request_context: dict[str, Any] | None = None) -> Any:
        pool = super()._new_pool(scheme, host, port, request_context)
        pool.ConnectionCls = self._classes[scheme]  # type: ignore[assignment]
        return pool


class _Adapter(HTTPAdapter):
    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        super().__init__(max_retries=0)

    def init_poolmanager(self, *_: Any, **__: Any) -> None:
        self.poolmanager = self._connections.pools

    def get_connection_with_tls_context(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> Any:
        return self.poolmanager.connection_from_url(str(request.url))

    def cert_verify(self, *_: Any) -> None:
        """Do nothing: the pools define the trusted authorities, not the session."""
