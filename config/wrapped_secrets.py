"""Secrets in the database, each wrapped under the master key."""

import os
from collections.abc import Iterator
from typing import Any, ClassVar

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.apps import apps
from django.conf import settings
from django.db import models

from config import master_key
from config.errors import Fault

_NONCE_BYTES = 12


class MasterKeyWrong(Fault):
    """A secret is wrapped under a master key that this process lacks."""

    code: ClassVar = "master_key_wrong"
    status: ClassVar = 503
    sentence = (
        "The service's keys do not open: its master key is not the one they were wrapped under. "
        "An administrator must put that one back: in MASTER_KEY, or else as the file keys/master_key in DATA_DIR."
    )


class NotImported(Fault):
    """The secret is still in a file of an earlier version."""

    code: ClassVar = "keys_not_imported"
    status: ClassVar = 503
    sentence = "The service's keys are still in files. An administrator must run manage.py keys_import."


class WrappedSecret(models.Model):
    """A row with a secret half."""

    wrapped = models.BinaryField(default=bytes, editable=False, help_text="Nonce, then AES-256-GCM.")
    wrapped_by = models.CharField(max_length=32, blank=True, editable=False, help_text="Id of the master key.")

    class Meta:
        abstract = True

    @classmethod
    def with_secret(cls) -> models.QuerySet[Any]:
        """Return the rows with a secret. A model may also have others."""
        return cls._base_manager.all()

    @property
    def context(self) -> str:
        """Return a constant text that identifies the row.

        It is authenticated with the secret, so that a secret cannot be moved to another row.
        """
        raise NotImplementedError

    def wrap(self, secret: bytes) -> None:
        """Set the secret, wrapped under the newest master key. The caller saves the row."""
        master, nonce = settings.MASTER_KEYS[0], os.urandom(_NONCE_BYTES)
        self.wrapped = nonce + AESGCM(master).encrypt(nonce, secret, self.context.encode())
        self.wrapped_by = master_key.key_id(master)

    def unwrap(self) -> bytes:
        """Return the secret. Raises MasterKeyWrong, NotImported."""
        known = {master_key.key_id(master): master for master in settings.MASTER_KEYS}
        wrapped = bytes(self.wrapped)
        try:
            cipher = AESGCM(known[self.wrapped_by])
            return cipher.decrypt(wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:], self.context.encode())
        except (KeyError, InvalidTag, ValueError):  # ValueError: shorter than a nonce
            raise _refusal(self) from None


def kinds() -> Iterator[type[WrappedSecret]]:
    """Yield the models with wrapped secrets."""
    return (model for model in apps.get_models() if issubclass(model, WrappedSecret))


def probe() -> None:
    """Check that every secret can be unwrapped. /readyz calls this, and so does the creation of a key.

    Raises:
        MasterKeyWrong: a secret in the database is wrapped under a master key that this process lacks.
        NotImported: a secret of an earlier version is still in a file.
    """
    for model in kinds():
        closed = model.with_secret().exclude(wrapped_by__in=_known()).order_by("-wrapped_by").first()
        if closed:
            raise _refusal(closed)


def require_master_key() -> None:
    """Raise MasterKeyWrong like `probe`, but ignore secrets in files."""
    for model in kinds():
        closed = model.with_secret().exclude(wrapped_by__in=[*_known(), ""]).first()
        if closed:
            raise _refusal(closed)


def _known() -> list[str]:
    return [master_key.key_id(master) for master in settings.MASTER_KEYS]


def _refusal(row: WrappedSecret) -> Fault:
    if not row.wrapped_by:
        return NotImported(because=f"{row.context} was not imported yet")
    return MasterKeyWrong(because=f"{row.context} does not open")
