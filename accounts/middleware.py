from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from accounts.services import sessions


class EndStaleSessions:
    """A session that was revoked, idle too long or is too old signs nobody in any more."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        # A request without a session cookie, as a machine sends it, touches no table here.
        if request.COOKIES and sessions.is_signed_in(request) and not sessions.touch(request=request):
            sessions.sign_out(request=request)
        return self.get_response(request)
