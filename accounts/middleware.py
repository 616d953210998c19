from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from accounts.services import sessions


class EndStaleSessions:
    """Middleware that signs out a session that was revoked, idle too long or is too old."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        # Machines send no session cookie: their requests touch no table here.
        if request.COOKIES and sessions.is_signed_in(request) and not sessions.touch(request=request):
            sessions.sign_out(request=request)
        return self.get_response(request)
