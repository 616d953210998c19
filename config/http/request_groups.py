"""Groups of requests that share Django's threads as one: those of an organization, or of a network address.

A request's organization is known once Django has authenticated it, which costs queries. So the front remembers it by
the credentials, and the first request of each in a process counts for its network address. That costs no query, and
invented credentials make no group. What a request may do does not depend on it.
"""

import hashlib
from collections import OrderedDict
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest, parse_cookie

from config.client_ip import network
from config.http.messages import ORGANIZATION

_MAX_REMEMBERED = 10_000

Environ = dict[str, Any]


class Groups:
    """The organizations that this process has learned, by credentials."""

    def __init__(self) -> None:
        self._organizations: OrderedDict[bytes, str] = OrderedDict()

    def of(self, environ: Environ) -> str:
        """Return the group of a request that Django has not answered yet."""
        known = self._organizations.get(_credentials(environ))
        if known:
            return known
        request = HttpRequest()
        request.META = environ
        return f"from {network(request)}"

    def learn(self, environ: Environ, status: int) -> None:
        """Remember whose credentials Django found in a request it has answered."""
        credentials = _credentials(environ)
        if status == HTTPStatus.UNAUTHORIZED:
            self._organizations.pop(credentials, None)
        elif ORGANIZATION in environ:
            self._organizations[credentials] = environ[ORGANIZATION]
            self._organizations.move_to_end(credentials)
            if len(self._organizations) > _MAX_REMEMBERED:
                self._organizations.popitem(last=False)


def _credentials(environ: Environ) -> bytes:
    """Return a digest: no secret stays in memory for it."""
    cookie = parse_cookie(environ.get("HTTP_COOKIE", "")).get(settings.SESSION_COOKIE_NAME, "")
    shown = f"{environ.get('HTTP_AUTHORIZATION', '')}\n{cookie}"
    return hashlib.sha256(shown.encode(errors="surrogatepass")).digest()
