"""What an operator may do on the pages. Services check again; this is so that pages can say beforehand."""

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from accounts import roles, selectors
from accounts.callers import Caller
from accounts.roles import Permission, Role


def refusal(request: HttpRequest, permission: Permission) -> str:
    """Why the operator may not do something in the organization they look at, in a sentence; empty if they may."""
    member = selectors.current_member(request)
    if member is None:
        return "You run the platform and look at this organization; its members act."
    if not roles.allows(Role(member.role), permission):
        return f"Your role, {member.role}, may not {permission}."
    return ""


def may_look(request: HttpRequest, permission: Permission) -> bool:
    """Whether the operator may see what a permission to look is for; whoever runs the platform sees everything."""
    return selectors.runs_the_platform(request) or may(request, permission)


def may(request: HttpRequest, permission: Permission) -> bool:
    return not refusal(request, permission)


def caller(request: HttpRequest, permission: Permission) -> Caller:
    """Who acts, for the services. Raises PermissionDenied, with the refusal, for whoever may not."""
    member, reason = selectors.current_member(request), refusal(request, permission)
    if member is None or reason:
        raise PermissionDenied(reason)
    return selectors.caller(member)
