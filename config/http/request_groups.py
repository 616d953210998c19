"""Groups of requests that share Django's threads: those of one organization, or of one network address.

Django learns a request's organization when it authenticates the request, which costs queries. So the front remembers
the organization by the credentials. Until then, requests count for their network address: that costs no query, and
invented credentials form no group. Permissions do not depend on groups.
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
    """Organizations that this process has learned, by credentials."""

    def __init__(self) -> None:
        self._organizations: OrderedDict[bytes, str] = OrderedDict()

    def of(self, environ: Environ) -> str:
        """Return the group of a request, before Django answers it."""
        known = self._organizations.get(_credentials(environ))
        if known:
            return known
        request = HttpRequest()
        request.META = environ
        return f"from {network(request)}"

    def learn(self, environ: Environ, status: int) -> None:
        """Remember the organization whose credentials an answered request had, or forget refused ones."""
        credentials = _credentials(environ)
        if status == HTTPStatus.UNAUTHORIZED:
            self._organizations.pop(credentials, None)
        elif ORGANIZATION in environ:
            self._organizations[credentials] = environ[ORGANIZATION]
            self._organizations.move_to_end(credentials)
            if len(self._organizations) > _MAX_REMEMBERED:
                self._organizations.popitem(last=False)


def _credentials(environ: Environ) -> bytes:
    """Return a digest of the credentials, so that no secret stays in memory."""
    cookie = parse_cookie(environ.get("HTTP_COOKIE", "")).get(settings.SESSION_COOKIE_NAME, "")
    shown = f"{environ.get('HTTP_AUTHORIZATION', '')}\n{cookie}"
    return hashlib.sha256(shown.encode(errors="surrogatepass")).digest()
