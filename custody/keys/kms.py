"""Keys that lie in a customer's key management service and are used there: one module a provider.

They are small remote calls: each takes as long as the network does, may fail for hours, and costs the customer money.
`custody.keys.epoch_keys` and the queue keep them out of requests.
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
"""For so long a client is used again, with its connections, the addresses it found and the credentials it got."""
_MOST = 256
_OF_KEYS = {
    "region", "secret_ref", "role_arn", "external_id", "kms_endpoint", "sts_endpoint",
    "tenant_id", "client_id", "login_endpoint",
}  # fmt: skip

_services: dict[tuple[str, uuid.UUID, str], tuple[KeyService, float]] = {}


@cache
def of(provider: str) -> Any:
    """The module of a provider: its `Configuration` for keys, and its `Service`."""
    return import_module(f"custody.clouds.{provider}.keys")


def checked(provider: str, config: Mapping[str, str], key: str) -> dict[str, str]:
    """What matters to a key of a configuration as somebody typed it. An empty value is one that is not given.

    Args:
        key: the setting that names the key, `kms_key` or `signing_key`.

    Raises:
        ConfigurationRefused: a name is missing, unknown or wrong.
    """
    try:
        found: CloudConfiguration = of(provider).Configuration.model_validate(
            {name: value for name, value in config.items() if value}
        )
        if not getattr(found, key):
            raise ValidationError.from_exception_data("", [{"type": "missing", "loc": (key,), "input": None}])
    except ValidationError as error:
        raise ConfigurationRefused(error) from None
    return found.model_dump(include=_OF_KEYS | {key}, exclude_defaults=True)


def service(provider: str, configuration: Mapping[str, str], organization_id: uuid.UUID) -> KeyService:
    """A client for the keys that a configuration names; several threads may use it.

    Raises:
        KmsUnavailable: nobody can be signed in.
    """
    name, now = (provider, organization_id, json.dumps(configuration, sort_keys=True)), time.monotonic()
    known = _services.get(name)
    if known and now < known[1]:
        return known[0]
    module = of(provider)
    made: KeyService = module.Service(module.Configuration.model_validate(configuration), organization_id)
    if len(_services) >= _MOST:
        _services.clear()
    _services[name] = made, now + _SECONDS
    return made


class KmsSigner:
    """Each signature is one call to the service; threads may sign together."""

    def __init__(self, row: Key) -> None:
        self.key_pk, self.key_id, self.algorithm = row.pk, row.key_id, row.algorithm
        self._row = row

    def sign(self, data: bytes) -> bytes:
        """A signature that verifies under the public half in the key's row. Raises KmsUnavailable."""
        row = self._row
        signature = service(row.provider, row.configuration, row.organization_id).sign(data, row.algorithm)
        if not verifies(row.algorithm, row.public_pem, signature, data):
            raise KmsRefused("the signature does not verify: the service has signed with another key")
        return signature


def forget() -> None:
    """Have this process make its clients anew."""
    _services.clear()


os.register_at_fork(after_in_child=forget)  # two processes must not speak over one connection
