"""Limits on guesses of a review code."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile

from accounts import counters, throttling
from notices.errors import TooManyTries, WrongCode
from notices.models import Notice

_HOUR = 3600
_PER_NOTICE = 10
_PER_NETWORK = 30  # more, because an office or a mobile network may share one address


@contextmanager
def counted(notice: Notice, network: str) -> Iterator[None]:
    """Count a try of a code in the body; a try that does not raise WrongCode is given back.

    The try is counted before the body runs, so that parallel tries cannot exceed the limits.

    Args:
        network: of the client.

    Raises:
        TooManyTries: for this letter, or from this network, in this hour.
    """
    limits = [(f"review-code:notice:{notice.pk}", _PER_NOTICE), (f"review-code:network:{network}", _PER_NETWORK)]
    tries = list(takewhile(lambda limit: counters.take(*limit, _HOUR), limits))
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
