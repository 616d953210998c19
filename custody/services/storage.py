"""Choosing where new records go."""

from django.db import transaction

from custody import storage_targets
from custody.models import StorageTarget


def choose_target(*, provider: str) -> StorageTarget:
    """Let new records go to this provider's storage from now on, of all organizations that have no target of their own.
    Earlier records stay where they are."""
    with transaction.atomic():
        storage_targets.lock()
        target = storage_targets.use(provider)
    storage_targets.forget()
    return target
