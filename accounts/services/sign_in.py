"""The steps of signing in: the mailed code, then, if required, the second factor."""

import uuid

from django.db import transaction
from django.db.models import F
from django.http import HttpRequest
from django.utils import timezone

from accounts.browsers import browser_of
from accounts.models import OneTimeCode, User
from accounts.services import codes, invites, second_factor, sessions
from accounts.services.codes import CodeRefused, NoPendingSignIn
from accounts.services.second_factor import NotEnrolled, SecondFactorRefused

_PENDING = "sign_in_code"
_NEW = "sign_in_of_new_account"


def by_code(*, request: HttpRequest, email: str, code: str, confirm: bool = False) -> bool:
    """Take a mailed code. Return True if the person is signed in now, False if their second factor must follow.

    Args:
        confirm: whether the person wants to prove, or enrol, an optional second factor.

    Raises:
        CodeRefused
        InviteGone: the code was to accept an invitation, which ended meanwhile.
    """
    verified = codes.verify_code(email=email, code=code, browser=browser_of(request))
    user, is_new = codes.owner(verified), False
    if verified.invite and not (user and second_factor.is_needed(user)):
        if user is None and User.objects.filter(email=verified.email).exists():
            raise CodeRefused  # the account is closed
        is_new, user = user is None, invites.accept_invite(invite=verified.invite).user
    if user is None:
        raise CodeRefused
    if not (confirm or second_factor.is_needed(user)):
        sessions.begin(request=request, user=user, organization_id=_joined(verified), only=is_new)
        return True
    sessions.renew(request=request)
    request.session[_PENDING], request.session[_NEW] = verified.pk, is_new
    return False


def waiting_person(request: HttpRequest) -> User:
    """Return the person who gave a code in this session and owes the second factor. Raises NoPendingSignIn."""
    _, person = _waiting(request)
    return person


def secret_to_enrol(request: HttpRequest) -> str | None:
    """Return the secret this person must first put into an app, or None if they are enrolled.

    The secret belongs to this pending sign-in, which stores it encrypted, and ends with it.

    Raises:
        NoPendingSignIn
    """
    pending, person = _waiting(request)
    if second_factor.is_enrolled(person):
        return None
    # Two tabs that ask at the same time show the same secret.
    sealed = second_factor.seal(second_factor.new_secret())
    OneTimeCode.objects.filter(pk=pending.pk, new_secret="").update(new_secret=sealed)
    pending.refresh_from_db(fields=["new_secret"])
    return second_factor.unseal(pending.new_secret)


def by_app(*, request: HttpRequest, code: str, may_enrol: bool) -> None:
    """Take the app's code and sign in. The first code also enrols the app.

    A person who is signed in here already goes on in the same session.

    Args:
        may_enrol: whether the person was shown `secret_to_enrol`.

    Raises:
        SecondFactorRefused: the code is wrong. After five wrong codes, the mailed code is void.
        NoPendingSignIn: no sign-in of this session waits for a second factor.
        NotEnrolled
        InviteGone: the mailed code was to accept an invitation, which ended meanwhile.
    """
    pending, user = _waiting(request)
    secret = secret_to_enrol(request)
    if secret and not may_enrol:
        raise NotEnrolled
    codes.count_app_try(pending)
    try:
        with transaction.atomic():
            _complete(pending)
            if secret:
                second_factor.enrol(user=user, secret=secret, code=code)
            else:
                second_factor.confirm(user=user, code=code)
            if pending.invite and not user.memberships.filter(organization=pending.invite.organization).exists():
                invites.accept_invite(invite=pending.invite)
    except SecondFactorRefused:
        second_factor.note_refusal(user)
        raise
    del request.session[_PENDING]
    is_new, organization_id = request.session.pop(_NEW, False), _joined(pending)
    if sessions.is_of(request, user):
        sessions.confirm(request=request, organization_id=organization_id)
    else:
        sessions.begin(request=request, user=user, organization_id=organization_id, only=is_new, confirmed=True)


def _joined(code: OneTimeCode) -> uuid.UUID | None:
    return code.invite.organization_id if code.invite else None


def _complete(pending: OneTimeCode) -> None:
    """Mark a sign-in as completed. Raises NoPendingSignIn: another request completed it meanwhile."""
    waiting = OneTimeCode.objects.filter(pk=pending.pk, confirmed_at=None)
    if not waiting.update(confirmed_at=timezone.now(), new_secret="", app_tries=F("app_tries") - 1):
        raise NoPendingSignIn


def _waiting(request: HttpRequest) -> tuple[OneTimeCode, User]:
    pending = OneTimeCode.objects.filter(
        pk=request.session.get(_PENDING, 0),
        confirmed_at=None,
        expires_at__gt=timezone.now(),
        app_tries__lt=codes.TRIES,
    ).first()
    person = codes.owner(pending) if pending else None
    if pending is None or person is None:
        raise NoPendingSignIn
    return pending, person
