"""Places in lists: a person who returns from a row finds the list as they left it, with filter, order and page.

A cookie of the list's pages keeps the query string. Its signature binds it to the person and the organization, so that
the next person at the browser does not meet another's search.
"""

from django.conf import settings
from django.contrib.admin.views.main import ERROR_FLAG
from django.http import HttpRequest, HttpResponse

from accounts import selectors

_COOKIE = "drs_place"
_MAX_CHARACTERS = 1500  # browsers keep 4,096 bytes with the name and the signature


def remember(request: HttpRequest, response: HttpResponse) -> None:
    """Remember where the person is in a list, until they close the browser."""
    query = "" if ERROR_FLAG in request.GET else request.GET.urlencode()
    if query == place(request, request.path) or len(query) > _MAX_CHARACTERS:
        return
    response.set_signed_cookie(
        _COOKIE,
        query,
        salt=_salt(request, request.path),
        path=request.path,
        secure=bool(settings.SESSION_COOKIE_SECURE),
        httponly=True,
        samesite="Lax",
    )


def place(request: HttpRequest, path: str) -> str:
    """Return the query string with which the person left a list, or "".

    Args:
        path: the list's path, above that of the request.
    """
    return request.get_signed_cookie(_COOKIE, "", salt=_salt(request, path)) or ""


def left_at(request: HttpRequest, path: str) -> str:
    """Return the address of a list as the person left it."""
    query = place(request, path)
    return f"{path}?{query}" if query else path


def _salt(request: HttpRequest, path: str) -> str:
    organization = selectors.current_organization(request)
    return f"{path} {request.user.pk} {organization.pk if organization else ''}"
