"""The start page: what needs attention, and charts. Apps place theirs here from their `ready()`."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.http import HttpRequest

from accounts.models import Organization


@dataclass(frozen=True, slots=True)
class Need:
    """Something that waits for somebody. It is shown while `count` is more than nothing, urgent ones first.

    Attributes:
        text: what it is, to be read after the count: "notices past their deadline".
        one: the same after a count of one: "notice past its deadline".
        count: how many, as `capped_count` counts them: more than MAX_ROWS is shown as "1,000+".
        url: the page on which it can be seen to.
        urgent: whether somebody is harmed by waiting.
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
    """One line of a chart; `note` stands behind the value, for people: "of 12", "%"."""

    label: str
    value: float
    note: str = ""

    @classmethod
    def capped(cls, label: str, count: int, most: int) -> "Bar":
        """A count of `capped_counts`."""
        return cls(label, most, "or more") if count > most else cls(label, count)


@dataclass(frozen=True, slots=True)
class Chart:
    """A bar chart, which is a table too. The longest bar is as long as `full`, or else as the greatest value.

    Attributes:
        url: the page with the whole story, if there is one.
        description: one sentence on what is counted.
    """

    title: str
    bars: Sequence[Bar]
    url: str = ""
    description: str = ""
    full: float = 0

    def drawn(self) -> Iterator[tuple[Bar, float]]:
        """Each bar with its length in percent."""
        longest = self.full or max((bar.value for bar in self.bars), default=0)
        return ((bar, 100 * bar.value / longest if longest else 0) for bar in self.bars)


Needs = Callable[[HttpRequest, Organization], Iterable[Need]]
Charts = Callable[[HttpRequest, Organization], Iterable[Chart]]
_NEEDS: list[Needs] = []
_CHARTS: list[Charts] = []


def register_needs(source: Needs) -> None:
    """Ask `source` for needs whenever the start page is shown.

    Args:
        source: takes the request and the organization it looks at. It runs on every visit, so each need costs one
            query at most, and counts are capped. What the operator's role may not see to, it leaves out: `may`.
    """
    _NEEDS.append(source)


def register_charts(source: Charts) -> None:
    """Ask `source` for charts whenever the start page is shown; as `register_needs`."""
    _CHARTS.append(source)


def needs(request: HttpRequest, organization: Organization) -> list[Need]:
    """What needs attention now, urgent first, otherwise in the order of registration."""
    found = [need for source in _NEEDS for need in source(request, organization) if need.count]
    return sorted(found, key=lambda need: not need.urgent)


def charts(request: HttpRequest, organization: Organization) -> list[Chart]:
    """The charts that have something to show."""
    return [chart for source in _CHARTS for chart in source(request, organization) if chart.bars]
