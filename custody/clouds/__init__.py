"""The customers' clouds: what their configurations name, and clients of them.

A configuration is a flat object of strings, the same one for testing, for a storage target and for a key. It names its
secret as `secret_ref` and never holds one. Each provider's module has a `Configuration` and the functions that make
clients from it, over `config.vetted_http` and with the credentials it names and no others.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from pydantic import ValidationError

from custody.clouds.configuration import CloudConfiguration, CloudRefusal, ConfigurationRefused

__all__ = ["PROVIDERS", "CloudConfiguration", "CloudRefusal", "ConfigurationRefused", "checked", "of"]

PROVIDERS = ("aws", "gcp", "azure")


@cache
def of(provider: str) -> type[CloudConfiguration]:
    """The configuration of one of PROVIDERS, which is imported with the library of its cloud when first asked for."""
    configuration: type[CloudConfiguration] = import_module(f"{__name__}.{provider}.configuration").Configuration
    return configuration


def checked(provider: str, config: Mapping[str, str]) -> CloudConfiguration:
    """A configuration as somebody typed it. An empty value is one that is not given.

    Raises:
        ConfigurationRefused: `problems` has a sentence for each name that is missing, unknown or wrong.
    """
    try:
        return of(provider).model_validate({name: value for name, value in config.items() if value})
    except ValidationError as error:
        raise ConfigurationRefused(error) from None
