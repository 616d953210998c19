"""Sequential requests, as a person or a waiting program sends them, and the time of each."""

import http.client
import time
from collections.abc import Mapping

from django.test import Client
from django.utils import timezone

from accounts.models import Member, SignedInSession

_WARM = 10
"""The first requests for a page compile its templates."""


class TimedClient:
    """A keep-alive connection to a web server, with the headers of one caller."""

    def __init__(self, port: int, headers: Mapping[str, str]) -> None:
        self._server = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self._headers = dict(headers)

    def milliseconds(self, path: str, body: bytes | None = None) -> float:
        """Return the time to the first byte of the answer, which must be a success."""
        begun = time.perf_counter()
        headers = self._headers | ({"Content-Type": "application/json"} if body else {})
        self._server.request("POST" if body else "GET", path, body, headers)
        answer = self._server.getresponse()
        milliseconds = (time.perf_counter() - begun) * 1000
        answer.read()
        if answer.status not in (200, 201):
            raise SystemExit(f"{path} was answered with {answer.status}")
        return milliseconds

    def warm(self, path: str) -> None:
        for _ in range(_WARM):
            self.milliseconds(path)


def signed_in(email: str) -> dict[str, str]:
    """Return the headers of a member's browser."""
    client = Client()
    user = Member.objects.unscoped("an owner of one organization alone").get(user__email=email).user
    client.force_login(user)
    key, now = str(client.session.session_key), timezone.now()
    SignedInSession.objects.create(user=user, session_key=key, client="bench", created_at=now, last_seen_at=now)
    return {"Cookie": f"sessionid={key}"}


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]
