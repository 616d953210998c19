"""What an operator may do on the pages. Services check again; this is so that pages can say beforehand."""

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from accounts import roles, selectors
from accounts.callers import SECOND_FACTOR_OWED, Caller
from accounts.roles import Permission


def refusal(request: HttpRequest, permission: Permission) -> str:
    """Why the operator may not do something in the organization they look at, in a sentence; empty if they may."""
    who = selectors.signed_in_caller(request)
    if who is None:
        return "You run the platform and look at this organization; its members act."
    if not roles.allows(who.role, permission):
        return f"Your role, {who.role}, may not {permission}."
    return SECOND_FACTOR_OWED if who.owes_second_factor else ""


def may_look(request: HttpRequest, permission: Permission) -> bool:
    """Whether the operator may see what a permission to look is for; whoever runs the platform sees everything."""
    who = selectors.signed_in_caller(request)
    return selectors.runs_the_platform(request) or (who is not None and roles.allows(who.role, permission))


def may(request: HttpRequest, permission: Permission) -> bool:
    return not refusal(request, permission)


def caller(request: HttpRequest, permission: Permission) -> Caller:
    """Who acts, for the services. Raises PermissionDenied, with the refusal, for whoever may not."""
    who, reason = selectors.signed_in_caller(request), refusal(request, permission)
    if who is None or reason:
        raise PermissionDenied(reason)
    return who
