"""How often a review code may be guessed."""

from collections.abc import Iterator
from contextlib import contextmanager

from accounts import throttling
from notices.models import Notice
from notices.services.reviews import WrongCode

_HOUR = 3600
_PER_NOTICE = 10
_PER_CLIENT = 30  # more, because a whole office or a mobile network may sit behind one address


class TooManyTries(Exception):
    """Too many wrong codes. `retry_after` is in seconds."""

    def __init__(self) -> None:
        super().__init__("too many wrong codes")
        self.retry_after = int(throttling.seconds_left(_HOUR)) + 1


@contextmanager
def counted(notice: Notice, client: str) -> Iterator[None]:
    """Try a code within it. The try is counted before, so that tries sent at once cannot outrun the limits, and stays
    counted if it raises WrongCode.

    Args:
        client: network address of whoever tries.

    Raises:
        TooManyTries: for this letter, or from this client, in this hour.
    """
    limits = {f"review-code:address:{client}": _PER_CLIENT, f"review-code:notice:{notice.pk}": _PER_NOTICE}
    if not all(throttling.within(who, limit, _HOUR) for who, limit in limits.items()):
        raise TooManyTries
    wrong = False
    try:
        yield
    except WrongCode:
        wrong = True
        raise
    finally:
        if not wrong:
            for who in limits:
                throttling.give_back(who, _HOUR)
