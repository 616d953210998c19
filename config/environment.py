"""Settings from the environment. Errors name an invalid setting but not its value, which may be secret."""

import os
from ipaddress import ip_network
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

_YES, _NO = environ.Env.BOOLEAN_TRUE_STRINGS, ("false", "off", "n", "no", "0", "")
_KINDS = {int: "a whole number", bool: "true or false"}


class Environment(environ.FileAwareEnv):
    """A reader of NAME, or of the file that NAME_FILE names. Raises ImproperlyConfigured for invalid values."""

    def get_value(self, var: str, cast: Any = None, *arguments: Any, **options: Any) -> Any:
        try:
            value = super().get_value(var, cast, *arguments, **options)
            is_valid = cast is not bool or super().get_value(var, default="").strip().lower() in (*_YES, *_NO)
        except OSError as error:
            raise ImproperlyConfigured(f"{var}_FILE names a file that cannot be read: {error.strerror}.") from None
        except ValueError:
            is_valid = False
        if not is_valid:
            raise ImproperlyConfigured(f"{var} must be {_KINDS[cast]}.")
        if os.environ.get(f"{var}_FILE") and not self.ENVIRON[var].strip():
            raise ImproperlyConfigured(f"{var}_FILE names a file that is empty.")
        return value

    def one_of(self, name: str, *choices: str, default: str) -> str:
        """Return the setting as one of these words, ignoring case."""
        given = self.str(name, default=default).strip().lower()
        for choice in choices:
            if choice.lower() == given:
                return choice
        raise ImproperlyConfigured(f"{name} must be one of: {', '.join(choices)}.")

    def hosts_and_networks(self, name: str) -> list[str]:
        """Return host names, addresses and networks. Refuse a mistyped network, which would pass as a host name."""
        entries: list[str] = self.list(name, default=[])
        for entry in (entry for entry in entries if "/" in entry):
            try:
                ip_network(entry)
            except ValueError as error:
                raise ImproperlyConfigured(f"{name}: {error}.") from None
        return entries
