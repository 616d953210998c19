"""Permissions of the operator on the pages. Services check again: here, a page learns in advance what to disable."""

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.utils.translation import gettext

from accounts import roles, selectors
from accounts.callers import SECOND_FACTOR_OWED, Caller
from accounts.roles import Permission


def refusal(request: HttpRequest, permission: Permission) -> str:
    """Return a sentence why the operator may not act in the current organization, or ""."""
    who = selectors.signed_in_caller(request)
    if who is None:
        return gettext("You run the platform and look at this organization; its members act.")
    if not roles.allows(who.role, permission):
        return gettext("Your role, %(role)s, may not %(permission)s.") % {"role": who.role, "permission": permission}
    return SECOND_FACTOR_OWED if who.owes_second_factor else ""


def may_look(request: HttpRequest, permission: Permission) -> bool:
    """Whether the operator may look. An operator of the platform sees everything."""
    who = selectors.signed_in_caller(request)
    return selectors.runs_the_platform(request) or (who is not None and roles.allows(who.role, permission))


def may(request: HttpRequest, permission: Permission) -> bool:
    return not refusal(request, permission)


def caller(request: HttpRequest, permission: Permission) -> Caller:
    """Return the caller for a service. Raises PermissionDenied, with the refusal, if they may not act."""
    who, reason = selectors.signed_in_caller(request), refusal(request, permission)
    if who is None or reason:
        raise PermissionDenied(reason)
    return who
