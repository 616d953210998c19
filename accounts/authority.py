"""Authority: every service that changes state says what it requires, and checks it itself."""

import uuid
from collections.abc import Callable, Iterable
from functools import wraps
from itertools import chain
from typing import ParamSpec, TypeVar

from django.db.models import Model

from accounts import roles
from accounts.callers import SECOND_FACTOR_OWED, Caller
from accounts.models import Organization
from accounts.roles import Permission
from config.errors import NotAllowed, NotFound
from config.tenancy import organization_of

P = ParamSpec("P")
R = TypeVar("R")


class SecondFactorOwed(NotAllowed):
    """The organization asks this member for a second factor before they change anything."""

    code = "second_factor_owed"
    sentence = SECOND_FACTOR_OWED


def require(caller: Caller, permission: Permission) -> None:
    """Raises NotAllowed if the caller's role does not allow it, SecondFactorOwed if they have yet to confirm."""
    if not roles.allows(caller.role, permission):
        raise NotAllowed(roles.refusal(caller.role, permission))
    if caller.owes_second_factor:
        raise SecondFactorOwed


def requires(permission: Permission) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a service require a permission of its `caller`, and that what it is given is of the caller's organization.

    The service takes `caller: Caller` and its other arguments by keyword. It raises, before it does anything:
    NotAllowed, SecondFactorOwed, or NotFound for another organization's object.
    """

    def decorate(service: Callable[P, R]) -> Callable[P, R]:
        @wraps(service)
        def checked(*arguments: P.args, **named: P.kwargs) -> R:
            caller = named["caller"]
            assert isinstance(caller, Caller)  # noqa: S101 - the signature says so
            require(caller, permission)
            _require_own(caller, named.values())
            return service(*arguments, **named)

        checked.permission = permission  # type: ignore[attr-defined]
        return checked

    return decorate


def _require_own(caller: Caller, given: Iterable[object]) -> None:
    for each in chain.from_iterable(one if isinstance(one, list | tuple | set) else [one] for one in given):
        if _organization_of(each) not in (None, caller.organization_id):
            raise NotFound


def _organization_of(each: object) -> uuid.UUID | None:
    """Whose something is; None for what is nobody's."""
    if isinstance(each, Organization):
        return each.pk
    named: uuid.UUID | None = getattr(each, "organization_id", None)
    return organization_of(each) if named is None and isinstance(each, Model) else named
