"""Decisions from before or after the time of a law."""

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any

from babel.dates import format_date

from notices import deadlines
from notices.checklist import Case
from notices.warnings.findings import Finding

_NEW = timedelta(days=366)
"""A decision whose day nobody knows may be older than a law that is not older than this."""


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    pack, day = case.pack, case.decided_on
    if pack.legal_status == "policy":
        return
    is_known = deadlines.parse_moment(case.facts.get("decided_at")) is not None
    told = (
        f"This one was made on {_day(day)}." if is_known else f"This one has no readable date and came on {_day(day)}."
    )
    if day < pack.effective_from:
        unsettled = " Whether it can be relied on before is unsettled." if pack.legal_status == "enacted" else ""
        since = f"{pack.short_name} is for decisions from {_day(pack.effective_from)} on."
        yield Finding("not_in_force", "framework", f"{since} {told} Its law may not apply.{unsettled}")
    elif pack.effective_to and day > pack.effective_to:
        until = f"{pack.short_name} is for decisions until {_day(pack.effective_to)}."
        yield Finding("not_in_force", "framework", f"{until} {told} Its law may no longer apply.")
    elif not is_known and pack.scope.rights_from and day - pack.scope.rights_from < _NEW:
        yield Finding(
            "not_in_force",
            "framework",
            f"{pack.short_name} is for decisions from {_day(pack.effective_from)} on. The record has no readable date "
            "of the decision: check that it is not older.",
        )


def _day(day: date) -> str:
    return format_date(day, "long", locale="en")
