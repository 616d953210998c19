from django import template
from django.http import HttpRequest

from accounts import selectors
from accounts.models import Member

register = template.Library()


@register.simple_tag
def first_steps_of(request: HttpRequest) -> Member | None:
    """Return the signed-in member until they dismiss their first steps."""
    member = selectors.current_member(request)
    return member if member and not member.onboarding_dismissed else None
