"""Forms that count once, even if a person reloads the answer and so sends the form again."""

import secrets

from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest

from config import db

_UNSENT = "unsent_forms"
_MAX_TOKENS = 20


def form_token(request: HttpRequest) -> str:
    """Return a token for a new form. The session keeps the newest unused tokens."""
    token = secrets.token_urlsafe(16)
    request.session[_UNSENT] = [*request.session.get(_UNSENT, []), token][-_MAX_TOKENS:]
    return token


def use_token(request: HttpRequest, token: str) -> bool:
    """Use up a form's token. Return False if it was used before; of two simultaneous requests, one gets True."""
    with transaction.atomic():
        session = db.only(Session.objects.select_for_update().filter(pk=request.session.session_key))
        unsent = session.get_decoded().get(_UNSENT, []) if session else []  # another request may end the session now
        if token not in unsent:
            return False
        request.session[_UNSENT] = [other for other in unsent if other != token]
        request.session.save()
    return True
