from typing import Any

from django.contrib.auth.backends import BaseBackend
from django.http import HttpRequest

from accounts.models import Member, User
from config import db


class MemberBackend(BaseBackend):
    """A backend that loads the person of a session. Sign-in goes through `accounts.services.sessions.begin`."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> None:
        return None

    def get_user(self, user_id: int) -> User | None:
        """Return an active person with their memberships, in one query unless they have none."""
        rows = (
            Member.objects.unscoped("those of one person").filter(user=user_id).select_related("user", "organization")
        )
        memberships = list(rows.order_by("pk"))
        user = memberships[0].user if memberships else db.only(User.objects.filter(pk=user_id))
        if user is None or not user.is_active:
            return None
        for member in memberships:
            member.user = user
        user.loaded_memberships = memberships
        return user
