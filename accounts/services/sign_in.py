"""The steps of signing in: the mailed code, then, where it is asked for, the second factor."""

from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import OneTimeCode, User
from accounts.services import codes, second_factor, sessions
from accounts.services.codes import CodeRefused
from accounts.services.second_factor import SecondFactorRefused

_PENDING = "sign_in_code"
_NEW_SECRET = "sign_in_new_secret"  # noqa: S105 - a session entry's name


def by_code(*, request: HttpRequest, email: str, code: str) -> bool:
    """Take a mailed code. True if the person is signed in now, False if their second factor is to follow.

    Raises:
        CodeRefused
    """
    verified = codes.verify_code(email=email, code=code)
    user = codes.owner(verified)
    if not second_factor.is_needed(user):
        sessions.begin(request=request, user=user)
        return True
    request.session.cycle_key()
    request.session[_PENDING] = verified.pk
    return False


def waiting_person(request: HttpRequest) -> User:
    """Who has given a code in this session and owes the second factor. Raises CodeRefused if nobody does."""
    return codes.owner(_waiting_code(request))


def secret_to_enrol(request: HttpRequest) -> str | None:
    """The secret this person is to put into an app first, sealed in their session; None if they are enrolled."""
    if second_factor.is_enrolled(waiting_person(request)):
        return None
    return second_factor.unseal(request.session.setdefault(_NEW_SECRET, second_factor.seal(second_factor.new_secret())))


def by_app(*, request: HttpRequest, code: str) -> None:
    """Take the app's code and sign in; the first one also enrols the app.

    Raises:
        SecondFactorRefused: it is wrong. After five of them the mailed code is worth nothing any more.
        CodeRefused: nobody in this session owes one.
    """
    pending = _waiting_code(request)
    user, secret = codes.owner(pending), secret_to_enrol(request)
    # Counted before it is compared, so that tries sent at once cannot outrun the limit.
    if not OneTimeCode.objects.filter(pk=pending.pk, app_tries__lt=codes.TRIES).update(app_tries=F("app_tries") + 1):
        raise CodeRefused
    try:
        if secret:
            second_factor.enrol(user=user, secret=secret, code=code)
        else:
            second_factor.confirm(user=user, code=code)
    except SecondFactorRefused:
        second_factor.note_refusal(user)
        raise
    request.session.pop(_NEW_SECRET, None)
    del request.session[_PENDING]
    sessions.begin(request=request, user=user)


def _waiting_code(request: HttpRequest) -> OneTimeCode:
    pending = OneTimeCode.objects.filter(
        pk=request.session.get(_PENDING, 0), expires_at__gt=timezone.now(), app_tries__lt=codes.TRIES
    ).first()
    if pending is None:
        raise CodeRefused
    return pending
