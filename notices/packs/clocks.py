"""Clocks of a pack: time limits for a notice or an answer, and their triggers."""

from datetime import date
from functools import lru_cache
from typing import Annotated, Final, Literal

from pydantic import Field, field_validator, model_validator

from notices.packs.parts import Amount, Authority, Conditional, Id, Sentence

Trigger = Literal[
    "decision_date",
    "application_completed",
    "application_received",
    "appeal_received",
    "request_received",
    "access_requested",
    "counteroffer_made",
    "person_informed",
]
Purpose = Literal["notice", "answer", "acknowledgement"]
Unit = Literal["hours", "days", "business_days", "months"]

UNITS: Final[tuple[Unit, ...]] = ("hours", "days", "business_days", "months")


class Clock(Conditional):
    """A time limit from a trigger to a notice, or to an answer to the person."""

    id: Id
    what: Purpose = "notice"
    """`notice`: the notice itself is due. `answer`: the access or review that the person requested.
    `acknowledgement`: the confirmation of the request. The last two run only after a request."""
    trigger: Trigger
    hours: Amount | None = None
    days: Amount | None = None
    business_days: Amount | None = None
    months: Amount | None = None
    calendar: Annotated[str, Field(pattern=r"^[A-Z]{2}(-[A-Z0-9]{1,3})?$")] | None = None
    """With `business_days`: the country (ISO 3166-1) or part of one (ISO 3166-2) whose public holidays do not count."""
    extension_days: Amount | None = None
    """Extra days, once, if the person was told of the extension in time."""
    missing_information_days: Amount | None = None
    """The clock pauses while the person has to send more information. They have at least this many days."""
    authority: Authority
    citation: Sentence
    source: Id

    @field_validator("calendar")
    @classmethod
    def _known_calendar(cls, calendar: str | None) -> str | None:
        if calendar:
            public_holidays(calendar, year=2000)  # a known calendar has every year
        return calendar

    @model_validator(mode="after")
    def _one_length(self) -> "Clock":
        if len([unit for unit in UNITS if getattr(self, unit) is not None]) != 1:
            raise ValueError(f"needs exactly one of {', '.join(UNITS)}")
        if (self.calendar is None) != (self.business_days is None):
            raise ValueError("business_days and the calendar of their public holidays go together")
        return self

    @model_validator(mode="after")
    def _can_start(self) -> "Clock":
        if self.what != "notice" and self.trigger != "request_received":
            raise ValueError(f"an {self.what} is due after 'request_received'")
        if self.when.on_request:
            raise ValueError("a clock that starts when the person asks is one of an 'answer' or 'acknowledgement'")
        if self.what != "notice" and (self.extension_days or self.missing_information_days):
            raise ValueError("records tell of extensions of a 'notice' only")
        if any(condition.subject == "notice" for condition in self.when.conditions):
            raise ValueError("a clock runs before there is a notice: it can depend on the record only")
        return self

    @property
    def unit(self) -> Unit:
        return next(unit for unit in UNITS if getattr(self, unit) is not None)

    @property
    def amount(self) -> int:
        return getattr(self, self.unit)  # type: ignore[no-any-return]

    @property
    def length(self) -> str:
        """The time limit in English, such as `1 month` or `10 business days`."""
        unit = self.unit.replace("_", " ")
        return f"{self.amount} {unit.removesuffix('s') if self.amount == 1 else unit}"


@lru_cache(maxsize=64)
def public_holidays(calendar: str, year: int) -> frozenset[date]:
    """Return the public holidays of a year, with the days on which they are observed.

    Args:
        calendar: as in `Clock.calendar`: `US`, `US-CA`.

    Raises:
        ValueError: the calendar is unknown.
    """
    import holidays  # takes 60 ms, and few packs count business days

    country, _, subdivision = calendar.partition("-")
    try:
        return frozenset(holidays.country_holidays(country, subdiv=subdivision or None, years=year))
    except NotImplementedError:
        raise ValueError(f"there is no calendar {calendar!r} of public holidays") from None
