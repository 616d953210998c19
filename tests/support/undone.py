"""Many cases in one test, each of which finds what was there before the first."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from accounts import token_hashing
from custody import keys, vaults


@contextmanager
def undone() -> Iterator[None]:
    """What is done to the database here is undone at the end, as after a test."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
    for remembered in (token_hashing, keys, vaults):  # what may be there no more
        remembered.forget()
