"""Forms that count once, though a browser sends them again when somebody reloads the page that answered."""

import secrets

from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest

from config import db

_UNSENT = "unsent_forms"
_MOST = 20


def form_token(request: HttpRequest) -> str:
    """A token for a form that is about to be shown. The session keeps the newest of those that were not sent yet."""
    token = secrets.token_urlsafe(16)
    request.session[_UNSENT] = [*request.session.get(_UNSENT, []), token][-_MOST:]
    return token


def use_token(request: HttpRequest, token: str) -> bool:
    """Whether a form with this token comes for the first time; of two that come at once, one does."""
    with transaction.atomic():
        kept = db.only(Session.objects.select_for_update().filter(pk=request.session.session_key))
        unsent = kept.get_decoded().get(_UNSENT, []) if kept else []  # it can end in this very moment
        if token not in unsent:
            return False
        request.session[_UNSENT] = [each for each in unsent if each != token]
        request.session.save()
    return True
