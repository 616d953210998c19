"""Authority: every service that changes state declares the permission it requires, and checks it itself."""

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
    """Raise NotAllowed if the caller's role lacks the permission, SecondFactorOwed if they have yet to confirm."""
    if not roles.allows(caller.role, permission):
        raise NotAllowed(roles.refusal(caller.role, permission))
    if caller.owes_second_factor:
        raise SecondFactorOwed


def requires(permission: Permission) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a service check its `caller` for a permission, and its arguments for the caller's organization.

    The service takes `caller: Caller` and its other arguments by keyword. Before its first step, it raises NotAllowed,
    SecondFactorOwed, or NotFound for another organization's object.
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


def _require_own(caller: Caller, arguments: Iterable[object]) -> None:
    for argument in chain.from_iterable(
        value if isinstance(value, list | tuple | set) else [value] for value in arguments
    ):
        if _organization_of(argument) not in (None, caller.organization_id):
            raise NotFound


def _organization_of(argument: object) -> uuid.UUID | None:
    """Return the id of the organization an object belongs to, or None."""
    if isinstance(argument, Organization):
        return argument.pk
    named: uuid.UUID | None = getattr(argument, "organization_id", None)
    return organization_of(argument) if named is None and isinstance(argument, Model) else named
