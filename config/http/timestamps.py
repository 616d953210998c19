import re
from datetime import UTC, date, datetime
from typing import Annotated, overload

from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field
from pydantic_core import PydanticKnownError


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("in UTC the time must lie in the years 1 to 9999") from None


def _no_number(value: object) -> object:
    """Refuse numbers, which pydantic would take as seconds or milliseconds, depending on their size."""
    if isinstance(value, str) and re.fullmatch(r"[-+0-9.eE_\s]*", value) and not re.match(r"\d{4}-", value):
        raise PydanticKnownError("datetime_parsing", {"error": "a number is not a time"})
    return value


Moment = Annotated[AwareDatetime, BeforeValidator(_no_number), AfterValidator(_in_utc)]
"""A time in a query: RFC 3339 with an offset."""


def _text(value: object) -> object:
    if not isinstance(value, str):
        raise PydanticKnownError("string_type")
    return value


MomentInBody = Annotated[Moment, Field(strict=False), BeforeValidator(_text)]
"""A time in a JSON body: RFC 3339 with an offset, as a text."""

DayInBody = Annotated[date, Field(strict=False), BeforeValidator(_no_number), BeforeValidator(_text)]
"""A day in a JSON body: YYYY-MM-DD, as a text."""


@overload
def rfc3339(moment: datetime) -> str: ...
@overload
def rfc3339(moment: None) -> None: ...
@overload
def rfc3339(moment: datetime | None) -> str | None: ...


def rfc3339(moment: datetime | None) -> str | None:
    """Return an aware moment as RFC 3339 in UTC with microseconds and a Z, or None for None."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def day_in_words(day: date) -> str:
    """Return a day for people, such as "24 Nov 2026"."""
    return f"{day.day} {day:%b %Y}"


def minute_in_words(moment: datetime) -> str:
    """Return an aware moment for people, in UTC and to the minute, such as "24 Nov 2026, 20:07 UTC"."""
    moment = moment.astimezone(UTC)
    return f"{day_in_words(moment)}, {moment:%H:%M} UTC"


Timestamp = Annotated[str, BeforeValidator(rfc3339)]
"""A moment in an answer."""

Day = Annotated[str, BeforeValidator(date.isoformat)]
"""A day in an answer."""
