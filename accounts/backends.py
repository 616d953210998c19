from typing import Any

from django.contrib.auth.backends import BaseBackend
from django.http import HttpRequest

from accounts.models import User
from config import db


class MemberBackend(BaseBackend):
    """A backend that loads the person of a session. Sign-in goes through `accounts.services.sessions.begin`."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> None:
        return None

    def get_user(self, user_id: int) -> User | None:
        return db.only(User.objects.filter(pk=user_id, is_active=True))
