"""Customers' clouds: configurations, clients, vaults, key services and proofs, in one folder for each provider.

A configuration is a flat object of strings, the same for the custody test, for a storage target and for a key. It names
its secret as `secret_ref` and never holds one. Each provider's `configuration` module has a `Configuration` and the
functions that make clients from it. The clients use `config.vetted_http` and no credentials but those it names.
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
    """Return the configuration class of one of PROVIDERS. The first call imports the cloud's library."""
    configuration: type[CloudConfiguration] = import_module(f"{__name__}.{provider}.configuration").Configuration
    return configuration


def checked(provider: str, config: Mapping[str, str]) -> CloudConfiguration:
    """Validate a configuration as it was typed. An empty value counts as missing.

    Raises:
        ConfigurationRefused: `problems` has a sentence for each name that is missing, unknown or wrong.
    """
    try:
        return of(provider).model_validate({name: value for name, value in config.items() if value})
    except ValidationError as error:
        raise ConfigurationRefused(error) from None
