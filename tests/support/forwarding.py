"""Standing before another server of this machine, so that what passes can be changed or fail."""

import http.client
import ssl
from typing import Any

from tests.support.web_server import Reply, Request
from tests.threads import HANGS_SECONDS

_OF_THE_CONNECTION = {"connection", "keep-alive", "transfer-encoding", "content-length"}


def forward(request: Request, port: int, *, encrypted: bool = False) -> Reply:
    """The other server's answer to a request, which arrives there as it came: signatures over it hold."""
    connection: http.client.HTTPConnection
    if encrypted:
        unverified = ssl._create_unverified_context()
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=HANGS_SECONDS, context=unverified)
    else:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANGS_SECONDS)
    try:
        connection.putrequest(request.method, request.target, skip_host=True, skip_accept_encoding=True)
        for name, value in request.headers.items():
            if name.lower() not in _OF_THE_CONNECTION:
                connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(request.body)))
        connection.putheader("Connection", "close")
        connection.endheaders(request.body)
        answer = connection.getresponse()
        return Reply(answer.read(), answer.status, _headers(request, answer))
    finally:
        connection.close()


def _headers(request: Request, answer: Any) -> dict[str, str]:
    headers = {name: value for name, value in answer.getheaders() if name.lower() not in _OF_THE_CONNECTION}
    if request.method == "HEAD" and answer.getheader("Content-Length"):
        headers["Content-Length"] = answer.getheader("Content-Length")
    return headers
