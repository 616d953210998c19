"""Every change to organizations, members and their access, by use case."""

from accounts.services.keys import NameTooLong, create_api_key, revoke_api_key
from accounts.services.members import add_member
from accounts.services.organizations import (
    SlugTaken,
    create_organization,
    require_second_factor,
    update_onboarding,
)

__all__ = [
    "NameTooLong",
    "SlugTaken",
    "add_member",
    "create_api_key",
    "create_organization",
    "require_second_factor",
    "revoke_api_key",
    "update_onboarding",
]
