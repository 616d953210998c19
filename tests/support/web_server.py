"""An HTTP or HTTPS server on a free loopback port, with the answers of a test."""

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from tests.support.faults import Fault, Faults, reset


class Request(NamedTuple):
    method: str
    path: str
    """The path, still percent-encoded."""
    query: dict[str, str]
    headers: Any
    body: bytes
    target: str

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Return the query's pairs, with repeated names."""
        return parse_qsl(urlsplit(self.target).query, keep_blank_values=True)


class Reply(NamedTuple):
    body: bytes | Iterator[bytes] = b""
    """Bytes, or pieces that are sent one by one without a Content-Length."""
    status: int = 200
    headers: dict[str, str] = {}


def json_reply(content: Any, status: int = 200, **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(json.dumps(content).encode(), status, {"Content-Type": "application/json", **named})


Answering = Callable[[Request], Reply]


class WebServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, answer: Answering, context: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer, self._context = answer, context
        self.requests: list[Request] = []
        self.faults = Faults()
        self.port: int = self.server_address[1]
        self.url = f"{'https' if context else 'http'}://localhost:{self.port}"

    def forget(self) -> None:
        """Forget all requests and faults."""
        self.requests.clear()
        self.faults.clear()

    def serve(self) -> None:
        """Serve requests until the socket is shut down. Blocks in `accept` instead of polling."""
        while True:
            try:
                connection, client_address = self.get_request()
            except OSError:
                return
            self.process_request(connection, client_address)

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Shake hands in the thread of the request, so that a client that refuses the certificate blocks no other."""
        if self._context:
            try:
                request = self._context.wrap_socket(request, server_side=True)
            except OSError:
                request.close()
                return
        try:
            super().finish_request(request, client_address)
        finally:
            request.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors: some tests hang up in the middle of a request."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else a body waits until the client has acknowledged the headers
    server: WebServer

    def _handle(self) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        request = Request(self.command, parts.path, query, self.headers, body, self.path)
        self.server.requests.append(request)
        fault = self.server.faults.take(request)
        if fault is None:
            self._send(self.server.answer(request))
            return
        if fault.is_after:
            self.server.answer(request)
        self._fail(fault)

    def _fail(self, fault: Fault) -> None:
        if isinstance(fault.kind, int):
            self._send(Reply(b"", fault.kind, {"Retry-After": "1"}))
            return
        self.close_connection = True
        if fault.kind == "timeout":
            self.rfile.read(1)
        else:
            reset(self.connection)

    def _send(self, reply: Reply) -> None:
        whole = reply.body if isinstance(reply.body, bytes) else None
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if whole is None:
            self.close_connection = True
            self.send_header("Connection", "close")
        elif "Content-Length" not in reply.headers:
            self.send_header("Content-Length", str(len(whole)))
        self.end_headers()
        if self.command == "HEAD":
            return
        for piece in [whole] if whole is not None else reply.body:
            self.wfile.write(piece)  # type: ignore[arg-type]
            self.wfile.flush()

    do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = do_PATCH = _handle

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def web_server(answer: Answering, context: ssl.SSLContext | None = None) -> Iterator[WebServer]:
    with WebServer(answer, context) as server:
        thread = threading.Thread(target=server.serve)
        thread.start()
        try:
            yield server
        finally:
            server.socket.shutdown(socket.SHUT_RDWR)
            thread.join()
