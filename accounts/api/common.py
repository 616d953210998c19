"""What the views of access share."""

from collections.abc import Iterator
from contextlib import contextmanager

from accounts.services.refusals import Refused
from config.api.errors import ApiError


@contextmanager
def refusals() -> Iterator[None]:
    """A rule that forbids something becomes the answer, with the rule's own sentence."""
    try:
        yield
    except Refused as refused:
        raise ApiError(refused.status, refused.sentence) from None
