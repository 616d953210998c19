"""The start page: needs and charts. Apps register theirs from their `ready()`."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.http import HttpRequest

from accounts.models import Organization


@dataclass(frozen=True, slots=True)
class Need:
    """Work that waits for a person. The page shows it while `count` is above 0, urgent needs first.

    Attributes:
        text: the words after the count: "notices past their deadline".
        one: the words after a count of one: "notice past its deadline".
        count: a `capped_count`: more than MAX_ROWS is shown as "1,000+".
        url: the page where the work is done.
        urgent: whether waiting harms a person.
    """

    text: str
    one: str
    count: int
    url: str
    urgent: bool = False

    def __str__(self) -> str:
        return self.one if self.count == 1 else self.text


@dataclass(frozen=True, slots=True)
class Bar:
    """One line of a chart. `note` follows the value, for people: "of 12", "%"."""

    label: str
    value: float
    note: str = ""

    @classmethod
    def capped(cls, label: str, count: int, limit: int) -> "Bar":
        """Return a bar for a count from `capped_counts`."""
        return cls(label, limit, "or more") if count > limit else cls(label, count)


@dataclass(frozen=True, slots=True)
class Chart:
    """A bar chart, which is also a table.

    Attributes:
        url: the page with more detail, if there is one.
        description: one sentence on what is counted.
        full: the value of a bar of full length. 0 means the greatest value.
    """

    title: str
    bars: Sequence[Bar]
    url: str = ""
    description: str = ""
    full: float = 0

    def drawn(self) -> Iterator[tuple[Bar, float]]:
        """Return each bar with its length in percent."""
        longest = self.full or max((bar.value for bar in self.bars), default=0)
        return ((bar, 100 * bar.value / longest if longest else 0) for bar in self.bars)


Needs = Callable[[HttpRequest, Organization], Iterable[Need]]
Charts = Callable[[HttpRequest, Organization], Iterable[Chart]]
_NEEDS: list[Needs] = []
_CHARTS: list[Charts] = []


def register_needs(source: Needs) -> None:
    """Ask `source` for needs whenever the start page is shown.

    Args:
        source: takes the request and the current organization. It runs on every visit, so each need costs one query at
            most, and counts are capped. It leaves out needs that the operator's role cannot handle (see `may`).
    """
    _NEEDS.append(source)


def register_charts(source: Charts) -> None:
    """Ask `source` for charts whenever the start page is shown. See `register_needs`."""
    _CHARTS.append(source)


def needs(request: HttpRequest, organization: Organization) -> list[Need]:
    """Return the needs of the moment, urgent first, otherwise in the order of registration."""
    counted = [need for source in _NEEDS for need in source(request, organization) if need.count]
    return sorted(counted, key=lambda need: not need.urgent)


def charts(request: HttpRequest, organization: Organization) -> list[Chart]:
    """Return the charts that have bars."""
    return [chart for source in _CHARTS for chart in source(request, organization) if chart.bars]
