"""Two marked texts, and a search for them: as plain text, in common encodings, and as digests without salt."""

import base64
import hashlib
import re
import subprocess
import tempfile
import urllib.parse
from collections.abc import Iterable
from contextlib import suppress
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.request import HTTPCookieProcessor, ProxyHandler, Request, build_opener

from tests.browser.service import Service
from tests.support.forks import MANAGE
from tests.system.live import Server
from tests.throwaway import postgresql_program

RATIONALE_MARK, EVIDENCE_MARK = "canary-7Yq2mZ0rT", "canary-9Lw4vK1sD"
RATIONALE = f"Because of {RATIONALE_MARK} the file was wrong."
EVIDENCE = f"scan {EVIDENCE_MARK}, page 2"
_MARKS = [RATIONALE_MARK.encode(), EVIDENCE_MARK.encode()]
_TEXTS = [RATIONALE.encode(), EVIDENCE.encode()]
_TRACES = [
    *_MARKS,
    *(mark.hex().encode() for mark in _MARKS),
    *(base64.b64encode(b"\0" * shift + mark)[4:-4] for mark in _MARKS for shift in range(3)),
    *(form for text in _TEXTS for form in (hashlib.sha256(text).digest(), hashlib.sha256(text).hexdigest().encode())),
]


def traces(sources: Iterable[bytes], control: bytes) -> list[str]:
    """Return the traces of the texts, each with its context.

    Args:
        control: bytes that the sources must have, to show that the search covers the right place.
    """
    everything = b"\n".join(sources)
    assert control in everything, "the search does not cover the right place"
    positions = [everything.find(trace) for trace in _TRACES]
    return [repr(everything[max(0, at - 60) : at + 60]) for at in positions if at >= 0]


def files_below(directory: Path) -> Iterable[bytes]:
    return (path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file())


def database_dump(url: str) -> bytes:
    """Return the database's content: the SQLite file with its log, or the output of pg_dump."""
    if url.startswith("sqlite"):
        path = Path(url.removeprefix("sqlite:///"))
        return b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))
    return subprocess.run([postgresql_program("pg_dump"), url], capture_output=True, check=True).stdout


class Answer(NamedTuple):
    status: int
    whole: bytes
    """Headers and body."""


class Person:
    """A user of the back office with cookies, but without a browser. Remembers every answer."""

    def __init__(self, live: Server) -> None:
        self.live, self.answers = live, []
        self.opener = build_opener(ProxyHandler({}), HTTPCookieProcessor(CookieJar()))

    def request(self, path: str, fields: dict[str, str] | bytes | None = None) -> Answer:
        body = urllib.parse.urlencode(fields).encode() if isinstance(fields, dict) else fields
        request = Request(self.live.base_url + path, data=body, headers={"Referer": self.live.base_url + path})
        answer = self._answer(request)
        self.answers.append(answer)
        return answer

    def _answer(self, request: Request) -> Answer:
        for _ in range(5):
            # A server that refuses a large body may close the connection while we still send: its answer is lost.
            with suppress(BrokenPipeError, ConnectionResetError, URLError), self._open(request) as response:
                return Answer(response.status, bytes(response.headers) + response.read())
        raise AssertionError("no answer of the server could be read")

    def _open(self, request: Request) -> Any:
        try:
            return self.opener.open(request)
        except HTTPError as refused:
            return refused

    def token(self, path: str) -> str:
        return re.search(rb'name="csrfmiddlewaretoken" value="(\w+)"', self.request(path).whole).group(1).decode()

    def submit(self, page: str, to: str, **fields: str) -> Answer:
        return self.request(to, {**fields, "csrfmiddlewaretoken": self.token(page)})

    def sign_in(self, address: str) -> None:
        code = Service(self.live).code(address, lambda: self.submit("/sign-in/", "/sign-in/", email=address))
        assert self.submit("/sign-in/code/", "/sign-in/code/", code=code).status == 200


def run_command(live: Server, *arguments: str, text: bytes) -> tuple[int, bytes]:
    """Run a command of manage.py with a text on standard input. Return its exit code and its output."""
    with tempfile.TemporaryDirectory() as directory:
        given, printed = Path(directory) / "given", Path(directory) / "printed"
        given.write_bytes(text)
        code = live.fork(MANAGE, arguments, printed, input=given).wait()
        return code, printed.read_bytes()
