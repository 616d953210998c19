"""Clients of customers' key management services, and signing with keys there.

Each call is remote: it takes as long as the network does, may fail for hours, and costs the customer money.
`custody.keys.epoch_keys` and the queue keep these calls out of requests.
"""

import json
import os
import time
import uuid
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from pydantic import ValidationError

from custody.clouds import CloudConfiguration, ConfigurationRefused
from custody.clouds.keys import KeyService, KmsRefused, KmsUnavailable, Wrapped
from custody.models import Key
from custody.signers import verifies

__all__ = ["KeyService", "KmsRefused", "KmsSigner", "KmsUnavailable", "Wrapped", "checked", "forget", "of", "service"]

_SECONDS = 300
"""How long a client is reused, with its connections, resolved addresses and credentials."""
_MAX_CLIENTS = 256
_OF_KEYS = {
    "region", "secret_ref", "role_arn", "external_id", "kms_endpoint", "sts_endpoint",
    "tenant_id", "client_id", "login_endpoint",
}  # fmt: skip

_services: dict[tuple[str, uuid.UUID, str], tuple[KeyService, float]] = {}


@cache
def of(provider: str) -> Any:
    """Return a provider's `keys` module, with its `Configuration` for keys and its `Service`."""
    return import_module(f"custody.clouds.{provider}.keys")


def checked(provider: str, config: Mapping[str, str], key: str) -> dict[str, str]:
    """Validate a configuration as it was typed, and return its settings for one key. An empty value counts as missing.

    Args:
        key: the setting that names the key, `kms_key` or `signing_key`.

    Raises:
        ConfigurationRefused: a name is missing, unknown or wrong.
    """
    try:
        settings: CloudConfiguration = of(provider).Configuration.model_validate(
            {name: value for name, value in config.items() if value}
        )
        if not getattr(settings, key):
            raise ValidationError.from_exception_data("", [{"type": "missing", "loc": (key,), "input": None}])
    except ValidationError as error:
        raise ConfigurationRefused(error) from None
    return settings.model_dump(include=_OF_KEYS | {key}, exclude_defaults=True)


def service(provider: str, configuration: Mapping[str, str], organization_id: uuid.UUID) -> KeyService:
    """Return a client for the keys of a configuration. Several threads may use it.

    Raises:
        KmsUnavailable: the sign-in failed.
    """
    name, now = (provider, organization_id, json.dumps(configuration, sort_keys=True)), time.monotonic()
    known = _services.get(name)
    if known and now < known[1]:
        return known[0]
    module = of(provider)
    made: KeyService = module.Service(module.Configuration.model_validate(configuration), organization_id)
    if len(_services) >= _MAX_CLIENTS:
        _services.clear()
    _services[name] = made, now + _SECONDS
    return made


class KmsSigner:
    """A signing key in a key management service. Each signature is one call; threads may sign together."""

    def __init__(self, row: Key) -> None:
        self.key_pk, self.key_id, self.algorithm = row.pk, row.key_id, row.algorithm
        self._row = row

    def sign(self, data: bytes) -> bytes:
        """Return a signature that verifies under the public half in the key's row. Raises KmsUnavailable."""
        row = self._row
        signature = service(row.provider, row.configuration, row.organization_id).sign(data, row.algorithm)
        if not verifies(row.algorithm, row.public_pem, signature, data):
            raise KmsRefused("the signature does not verify: the service has signed with another key")
        return signature


def forget() -> None:
    """Have this process make new clients."""
    _services.clear()


os.register_at_fork(after_in_child=forget)  # two processes must not share a connection
