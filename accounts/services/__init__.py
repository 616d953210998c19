"""Every change to organizations, members and their access."""

from accounts.services.keys import create_api_key, revoke_api_key
from accounts.services.organizations import SlugTaken, add_member, create_organization

__all__ = ["SlugTaken", "add_member", "create_api_key", "create_organization", "revoke_api_key"]
