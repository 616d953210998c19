import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest

from tests.support.certificates import Authority
from tests.support.web_server import Answering, WebServer, web_server


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def trusted(authority: Authority, settings: Any) -> Authority:
    """Trust the authority of the tests, and allow connections to this machine."""
    settings.TRUSTED_CA_FILE = str(authority.file)
    settings.ALLOWED_PRIVATE_HOSTS = ["localhost"]
    return authority


@pytest.fixture
def serve(trusted: Authority) -> Iterator[Callable[..., WebServer]]:
    """Return a function that starts HTTPS servers."""
    with ExitStack() as stack:

        def start(
            answer: Answering, *names: str, encrypted: bool = True, valid: timedelta = timedelta(days=1)
        ) -> WebServer:
            context = trusted.server_context(*(names or ("localhost",)), valid=valid) if encrypted else None
            return stack.enter_context(web_server(answer, context))

        yield start


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[list[str]]]:
    """Return the answers of the resolver by name: consecutive lists of addresses, the last one repeated."""
    known: dict[str, list[list[str]]] = {}
    real = socket.getaddrinfo

    def getaddrinfo(host: Any, port: Any, *args: Any, **kwargs: Any) -> list[Any]:
        if host not in known:
            return real(host, port, *args, **kwargs)
        answer = known[host].pop(0) if len(known[host]) > 1 else known[host][0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in answer]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return known
