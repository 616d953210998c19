"""The service with web server and worker, as `make run` starts it, and the mailboxes of its users."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.cookies import SimpleCookie
from pathlib import Path

from playwright.sync_api import StorageState

from tests.system.live import Server, server, wait_until, worker

_CODE, _LINK = r"^ {4}(\d{6})$", r"^ {4}(http\S+)$"
_END_OF_MAIL = "-" * 79 + "\n"


class Service:
    """A running service. `key` is an owner's API key."""

    def __init__(self, live: Server) -> None:
        self.url, self.key, self.live = live.base_url, live.key, live

    def call(self, method: str, path: str, body: bytes | None = None) -> dict:
        with self.live.client() as client:
            answer = client.request(method, path, body)
        assert answer.status in (200, 201), answer.body
        return answer.json()

    def new_mail(self, address: str, after: Callable[[], object], line: str = "") -> str:
        """Call `after`, and return the mail with this line that an address gets. Other mails may arrive at any time."""
        before = set(self._mails(address))
        after()

        def new_mails() -> list[str]:
            new = [path.read_text() for path in set(self._mails(address)) - before]
            return [text for text in new if re.search(line, text, re.MULTILINE)]

        (mail,) = wait_until(new_mails, f"a mail to {address} is written")
        return mail

    def code(self, address: str, after: Callable[[], object]) -> str:
        return re.search(_CODE, self.new_mail(address, after, _CODE), re.MULTILINE).group(1)

    def invitation(self, address: str, role: str) -> str:
        """Invite a person, and return the link in their mail."""
        body = f'{{"email": "{address}", "role": "{role}"}}'.encode()
        mail = self.new_mail(address, lambda: self.call("POST", "/v1/auth/invites", body), _LINK)
        return re.search(_LINK, mail, re.MULTILINE).group(1)

    def member(self, address: str, role: str) -> str:
        """Make a person a member without a browser, and return their address."""
        token = self.invitation(address, role).rstrip("/").rpartition("/")[2]
        with self._program() as (_, post):
            code = self.code(address, lambda: post("invites/accept", token=token))
            post("otp/verify", email=address, code=code)
        return address

    def signed_in(self, address: str) -> StorageState:
        """Sign in without a browser, and return the storage state of the person's browser."""
        with self._program() as (cookies, post):
            code = self.code(address, lambda: post("otp/request", email=address))
            post("otp/verify", email=address, code=code)
        return {"cookies": [{"name": name, "value": cookie.value, "url": self.url} for name, cookie in cookies.items()]}

    @contextmanager
    def _program(self) -> Iterator[tuple[SimpleCookie, Callable[..., None]]]:
        """Yield the cookies of a program without a key, and a function that posts to paths below /v1/auth."""
        cookies = SimpleCookie()
        with self.live.client() as client:

            def post(path: str, **body: str) -> None:
                sent = "; ".join(f"{name}={cookie.value}" for name, cookie in cookies.items())
                answer = client.request("POST", f"/v1/auth/{path}", json.dumps(body).encode(), Cookie=sent)
                assert answer.status == 200, answer.body
                for cookie in answer.headers.get_all("Set-Cookie", []):
                    cookies.load(cookie)

            yield cookies, post

    def require_second_factor(self, required: bool) -> None:
        self.live.sql(f"UPDATE accounts_organization SET second_factor_required = {str(required).upper()}")

    def _mails(self, address: str) -> list[Path]:
        return [path for path in (self.live.data_dir / "mail").glob("*") if _is_mail_to(path, address)]


def _is_mail_to(path: Path, address: str) -> bool:
    text = path.read_text()
    return text.endswith(_END_OF_MAIL) and f"To: {address}\n" in text


@contextmanager
def service(**environment: str) -> Iterator[Service]:
    """Run web server and worker with `environment` as their settings."""
    limits = {"CODES_PER_HOUR": "10000", "CODES_PER_HOUR_AND_CLIENT": "10000", "ANONYMOUS_REQUESTS_PER_MINUTE": "0"}
    environment = {**limits, **environment}
    with server(**environment) as live, worker(live):
        yield Service(live)
