"""The cookie that binds a code to the browser that asked for it. It is random, and set alike for every address."""

import re
import secrets

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from accounts.services.codes import BROWSER_KNOWN

COOKIE = "drs_browser"
_VALUE = re.compile("[0-9a-f]{64}")


def browser_of(request: HttpRequest) -> str:
    """What the browser's cookie says; a new secret for one that has none yet."""
    found = request.COOKIES.get(COOKIE, "")
    return found if _VALUE.fullmatch(found) else secrets.token_hex(32)


def remember(response: HttpResponse, browser: str) -> None:
    """Have the browser send this secret with the code."""
    response.set_cookie(
        COOKIE,
        browser,
        max_age=BROWSER_KNOWN,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
