"""How often a review code may be guessed."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile

from accounts import counters, throttling
from notices.errors import TooManyTries, WrongCode
from notices.models import Notice

_HOUR = 3600
_PER_NOTICE = 10
_PER_NETWORK = 30  # more, because a whole office or a mobile network may sit behind one address


@contextmanager
def counted(notice: Notice, network: str) -> Iterator[None]:
    """Try a code within it. The try is counted before, so that tries sent at once cannot outrun the limits, and stays
    counted if it raises WrongCode.

    Args:
        network: of whoever tries.

    Raises:
        TooManyTries: for this letter, or from this network, in this hour.
    """
    limits = [(f"review-code:notice:{notice.pk}", _PER_NOTICE), (f"review-code:network:{network}", _PER_NETWORK)]
    tries = list(takewhile(lambda each: counters.take(*each, _HOUR), limits))
    wrong = False
    try:
        if len(tries) < len(limits):
            raise TooManyTries(retry_after=int(throttling.seconds_left(_HOUR)) + 1)
        yield
    except WrongCode:
        wrong = True
        raise
    finally:
        if not wrong:
            for counter, _ in tries:
                counters.give_back(counter, _HOUR)
