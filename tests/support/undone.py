"""Rollback after each case of a test, so that all cases start with the same rows."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from accounts import token_hashing
from custody import vaults
from custody.keys import keyrings


@contextmanager
def undone() -> Iterator[None]:
    """Roll back all changes to the database at the end."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
    for module in (token_hashing, keyrings, vaults):  # their caches may hold rows that were rolled back
        module.forget()
