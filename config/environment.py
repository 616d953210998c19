"""Settings from the environment. One that makes no sense is named, and its value is not: that may be secret."""

import os
from ipaddress import ip_network
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

_YES, _NO = environ.Env.BOOLEAN_TRUE_STRINGS, ("false", "off", "n", "no", "0", "")
_KINDS = {int: "a whole number", bool: "true or false"}


class Environment(environ.FileAwareEnv):
    """Reads NAME, or the file that NAME_FILE names. Raises ImproperlyConfigured for whatever makes no sense."""

    def get_value(self, var: str, cast: Any = None, *arguments: Any, **options: Any) -> Any:
        try:
            value = super().get_value(var, cast, *arguments, **options)
            understood = cast is not bool or super().get_value(var, default="").strip().lower() in (*_YES, *_NO)
        except OSError as error:
            raise ImproperlyConfigured(f"{var}_FILE names a file that cannot be read: {error.strerror}.") from None
        except ValueError:
            understood = False
        if not understood:
            raise ImproperlyConfigured(f"{var} must be {_KINDS[cast]}.")
        if os.environ.get(f"{var}_FILE") and not self.ENVIRON[var].strip():
            raise ImproperlyConfigured(f"{var}_FILE names a file that is empty.")
        return value

    def one_of(self, name: str, *choices: str, default: str) -> str:
        """One of these words, in capitals or not."""
        given = self.str(name, default=default).strip().lower()
        for choice in choices:
            if choice.lower() == given:
                return choice
        raise ImproperlyConfigured(f"{name} must be one of: {', '.join(choices)}.")

    def hosts_and_networks(self, name: str) -> list[str]:
        """Names, addresses and networks. A mistyped network is refused, for it would pass as the name of a host."""
        entries: list[str] = self.list(name, default=[])
        for entry in (each for each in entries if "/" in each):
            try:
                ip_network(entry)
            except ValueError as error:
                raise ImproperlyConfigured(f"{name}: {error}.") from None
        return entries
