import re
from datetime import UTC, datetime
from typing import Annotated, overload

from pydantic import AfterValidator, AwareDatetime, BeforeValidator


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("in UTC the time must lie in the years 1 to 9999") from None


def _text_of_a_date_and_time(value: object) -> object:
    """pydantic also takes numbers, as seconds or milliseconds by their size, and dates."""
    if isinstance(value, str) and not re.match(r"\d{4}-\d\d-\d\d[Tt ]", value, re.ASCII):
        raise ValueError("write the time as 2026-01-31T12:00:00Z")
    return value


Moment = Annotated[AwareDatetime, BeforeValidator(_text_of_a_date_and_time), AfterValidator(_in_utc)]
"""A time in a query: RFC 3339 with an offset."""


@overload
def rfc3339(moment: datetime) -> str: ...
@overload
def rfc3339(moment: None) -> None: ...
@overload
def rfc3339(moment: datetime | None) -> str | None: ...


def rfc3339(moment: datetime | None) -> str | None:
    """An aware moment as RFC 3339 in UTC with microseconds and a Z; nothing for nothing."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
