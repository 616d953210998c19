"""The session engine: Django's database sessions. It queries only for keys that Django could have made."""

import re

from django.contrib.sessions.backends import db

_KEY = re.compile("[0-9a-z]{32}")


def is_key(offered: str) -> bool:
    """Whether the value of a session cookie can be a key. PostgreSQL raises where a value holds NUL."""
    return bool(_KEY.fullmatch(offered))


class SessionStore(db.SessionStore):
    def _validate_session_key(self, key: str) -> bool:
        return bool(key) and is_key(key)
