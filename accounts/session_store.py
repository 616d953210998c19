"""The session engine: Django's database sessions. It queries only for keys that Django could have made."""

import re
from typing import Any

from django.contrib.sessions.backends import db
from django.db.models import OuterRef, Subquery
from django.utils import timezone

from accounts.models import SignedInSession
from config.db import only

_KEY = re.compile("[0-9a-z]{32}")


def is_key(offered: str) -> bool:
    """Whether the value of a session cookie can be a key. PostgreSQL raises where a value holds NUL."""
    return bool(_KEY.fullmatch(offered))


class SessionStore(db.SessionStore):
    """Sessions that are read in one query with the row of `SignedInSession`.

    Attributes:
        signed_in: the row as it was when the session was read; None if the browser is not signed in.
    """

    signed_in: SignedInSession | None = None

    def _validate_session_key(self, key: str) -> bool:
        return bool(key) and is_key(key)

    def load(self) -> dict[str, Any]:
        live = self.model.objects.filter(session_key=OuterRef("session_key"), expire_date__gt=timezone.now())
        rows = SignedInSession.objects.filter(session_key=self.session_key or "")
        row = self.signed_in = only(rows.annotate(data=Subquery(live.values("session_data"))))
        data: dict[str, Any] = self.decode(row.data) if row and row.data else super().load()
        return data
