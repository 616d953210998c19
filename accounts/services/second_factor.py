"""The second factor: time-based codes of an authenticator app (RFC 6238)."""

import base64

import pyotp
import segno
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.db import transaction
from django.utils import timezone

from accounts import audit, token_hashing
from accounts.audit import Actor
from accounts.models import SignedInSession, User
from accounts.roles import CONFIRMED
from accounts.services import sessions
from config.errors import DomainError

_STEP_SECONDS = 30
_TOLERATED_STEPS = 1


class SecondFactorRefused(DomainError):
    """The app's code is wrong, or was used before."""

    code = "second_factor_refused"
    status = 401
    sentence = "This code is wrong or was used before. Wait for the next one."


class NotEnrolled(DomainError):
    """This person has not enrolled an app."""

    code = "not_enrolled"
    sentence = "No app is enrolled yet. Sign in once at /sign-in/ to enrol one."


def is_needed(user: User) -> bool:
    """Whether this person must confirm a sign-in: they have enrolled, or an organization asks their role."""
    asking = user.memberships.filter(role__in=CONFIRMED, organization__second_factor_required=True)
    asked = (member.organization.settled() for member in asking.select_related("organization"))
    return is_enrolled(user) or any(organization.second_factor_required for organization in asked)


def is_enrolled(user: User) -> bool:
    return bool(user.totp_secret)


def new_secret() -> str:
    """Return a new base32 secret. It counts only once `enrol` has seen a code made from it."""
    return pyotp.random_base32()


def qr_code(user: User, secret: str) -> str:
    """Draw the enrolment as an SVG picture, here, so that no other service sees the secret."""
    uri = pyotp.TOTP(secret).provisioning_uri(name=user.email, issuer_name="Decision-Record Service")
    return str(segno.make(uri, error="m").svg_data_uri(scale=5, border=2))


def enrol(*, user: User, secret: str, code: str) -> None:
    """Make an app this person's second factor. Raises SecondFactorRefused, also if they have one already."""
    step = _matching_step(secret, code, after=0)
    with transaction.atomic():
        encrypted = seal(secret)
        if not User.objects.filter(pk=user.pk, totp_secret="").update(totp_secret=encrypted, totp_counter=step):
            raise SecondFactorRefused
        user.totp_secret = encrypted
        _audit("second_factor.enrolled", user)


def confirm(*, user: User, code: str) -> None:
    """Use up a code of an enrolled app. Raises SecondFactorRefused."""
    secret = unseal(user.totp_secret)
    step = _matching_step(secret, code, after=user.totp_counter)
    # Seal it under the newest pepper, so that this person needs no earlier one after a sign-in.
    if not User.objects.filter(pk=user.pk, totp_counter__lt=step).update(totp_counter=step, totp_secret=seal(secret)):
        raise SecondFactorRefused


def reset(*, user: User, actor: Actor) -> None:
    """Forget a person's app, for example a lost phone, and end the sessions it confirmed.

    If an organization asks for an app, they enrol another at sign-in.
    """
    with transaction.atomic():
        if User.objects.filter(pk=user.pk).exclude(totp_secret="").update(totp_secret="", totp_counter=0):
            _audit("second_factor.reset", user, actor)
            for session in SignedInSession.objects.filter(user=user):
                sessions.end(session=session, because="second factor reset")


def note_refusal(user: User) -> None:
    """Record a wrong code in the audit trail."""
    _audit("second_factor.refused", user)


def seal(secret: str) -> str:
    """Encrypt a secret for storage."""
    return _cipher().encrypt(secret.encode()).decode()


def unseal(sealed: str) -> str:
    """Decrypt a stored secret. Raises SecondFactorRefused: it was sealed under a pepper that is gone."""
    try:
        return _cipher().decrypt(sealed.encode()).decode()
    except InvalidToken:
        raise SecondFactorRefused from None


def _audit(verb: str, user: User, actor: Actor | None = None) -> None:
    for member in user.memberships.all():
        audit.record(
            verb,
            actor=actor or Actor("member", str(user.pk), user.email),
            organization_id=member.organization_id,
            object_kind="member",
            object_id=member.pk,
        )


def _matching_step(secret: str, code: str, *, after: int) -> int:
    """Return the time step of a code. Raises SecondFactorRefused unless it is near now and later than `after`."""
    app, now = pyotp.TOTP(secret), int(timezone.now().timestamp()) // _STEP_SECONDS
    near = range(now - _TOLERATED_STEPS, now + _TOLERATED_STEPS + 1)
    for step in near:
        if pyotp.utils.strings_equal(app.generate_otp(step), code) and step > after:
            return step
    raise SecondFactorRefused


def _cipher() -> MultiFernet:
    keys = [token_hashing.key(pepper, "accounts.totp") for pepper in token_hashing.peppers()]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in keys])
