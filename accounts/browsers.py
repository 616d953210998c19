"""The cookie that binds a code to the browser that requested it. It is random, whatever the address."""

import re
import secrets

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from accounts.services.codes import BROWSER_KNOWN

COOKIE = "drs_browser"
_VALUE = re.compile("[0-9a-f]{64}")


def browser_of(request: HttpRequest) -> str:
    """Return the secret in the browser's cookie, or a new one."""
    secret = request.COOKIES.get(COOKIE, "")
    return secret if _VALUE.fullmatch(secret) else secrets.token_hex(32)


def remember(response: HttpResponse, browser: str) -> None:
    """Set the cookie, so that the browser sends this secret with the code."""
    response.set_cookie(
        COOKIE,
        browser,
        max_age=BROWSER_KNOWN,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
