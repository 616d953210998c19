"""Further peppers, like after an import of several SECRET_KEYs."""

import os

from accounts import token_hashing
from accounts.models import Pepper


def new_pepper() -> None:
    """Create the newest pepper. Earlier peppers still verify their tokens."""
    row = Pepper(generation=Pepper.objects.count() + 1)
    row.wrap(os.urandom(32))
    row.save()
    token_hashing.forget()


def forget_earlier_peppers() -> None:
    Pepper.objects.exclude(pk=Pepper.objects.latest("generation").pk).delete()
    token_hashing.forget()
