"""Periods of reports. The address names one, as `?days=365`; `days=all` is everything."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.http import Http404
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True)
class Period:
    """Days up to now. `days` is its value in the address, and `begins` is None if it has no beginning."""

    days: str
    label: str | Promise
    begins: datetime | None


_DEFAULT = "90"
_LABELS = {"30": _("30 days"), "90": _("90 days"), "365": _("365 days"), "all": _("All")}


def all_periods() -> list[Period]:
    """Return the periods that a report offers."""
    now = timezone.now()
    return [
        Period(days, label, None if days == "all" else now - timedelta(days=int(days)))
        for days, label in _LABELS.items()
    ]


def chosen(query: Mapping[str, str]) -> Period:
    """Return the period that the query of an address names, or the default. Raises Http404 for an unknown one."""
    days = query.get("days", _DEFAULT)
    for period in all_periods():
        if period.days == days:
            return period
    raise Http404
