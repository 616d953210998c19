"""The start page: needs, what came in and went out, and charts. Apps register theirs from their `ready()`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.back_office import flows, lists
from accounts.back_office.flows import CountedFlow, Flow
from accounts.models import Organization


@dataclass(frozen=True, slots=True)
class Need:
    """Work that waits for a person. The page shows it while `count` is above 0, urgent needs first.

    Attributes:
        text: the words after the count: "notices past their deadline".
        one: the words after a count of one: "notice past its deadline".
        count: a number, or the rows to count. More than MAX_ROWS is shown as "1,000+".
        url: the page where the work is done. For work, it lists exactly the counted rows.
        urgent: whether waiting harms a person.
        is_work: whether it belongs to "Your work". Other needs are about the service.
    """

    text: str
    one: str
    count: int | QuerySet[Any]
    url: str
    urgent: bool = False
    is_work: bool = False

    def __str__(self) -> str:
        return self.one if self.count == 1 else self.text


@dataclass(frozen=True, slots=True)
class Bar:
    """One line of a chart. `note` follows the value, for people: "of 12", "%"."""

    label: str
    value: float
    note: str = ""


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


@dataclass(frozen=True, slots=True)
class StartPage:
    """The start page, as one person sees it.

    Attributes:
        work: the needs that a person works off, urgent first.
        needs: the other needs, urgent first.
        has_records: whether the organization has sent a record.
    """

    work: Sequence[Need]
    needs: Sequence[Need]
    flows: Sequence[CountedFlow]
    charts: Sequence[Chart]

    @property
    def has_records(self) -> bool:
        return any(flow.has_rows for flow in self.flows if flow.flow.is_ingest)


Needs = Callable[[HttpRequest, Organization], Iterable[Need]]
Flows = Callable[[HttpRequest, Organization], Iterable[Flow]]
Charts = Callable[[HttpRequest, Organization], Iterable[Chart]]
_NEEDS: list[Needs] = []
_FLOWS: list[Flows] = []
_CHARTS: list[Charts] = []


def register_needs(source: Needs) -> None:
    """Ask `source` for needs whenever the start page is shown.

    Args:
        source: takes the request and the current organization. It runs on every visit: one query counts the rows of
            all needs. It leaves out needs that the operator's role cannot handle (see `may`).
    """
    _NEEDS.append(source)


def register_flows(source: Flows) -> None:
    """Ask `source` for what came in and went out whenever the start page is shown. See `register_needs`."""
    _FLOWS.append(source)


def register_charts(source: Charts) -> None:
    """Ask `source` for charts whenever the start page is shown. See `register_needs`."""
    _CHARTS.append(source)


def start_page(request: HttpRequest, organization: Organization) -> StartPage:
    """Return the start page of the moment. One query counts the rows of all needs and flows."""
    needs = [need for source in _NEEDS for need in source(request, organization)]
    flowing = [flow for source in _FLOWS for flow in source(request, organization)]
    charts = [chart for source in _CHARTS for chart in source(request, organization) if chart.bars]
    to_count: dict[Any, tuple[QuerySet[Any], int]] = {
        need: (need.count, lists.MAX_ROWS) for need in needs if isinstance(need.count, QuerySet)
    }
    for flow in flowing:
        to_count |= flows.to_count(organization.pk, flow)
    counts = dict(zip(to_count, lists.counts_up_to(to_count.values()), strict=True))
    waiting = _waiting(needs, counts)
    return StartPage(
        work=[need for need in waiting if need.is_work],
        needs=[need for need in waiting if not need.is_work],
        flows=[flows.counted(organization.pk, flow, counts) for flow in flowing],
        charts=charts,
    )


def _waiting(needs: Iterable[Need], counts: Mapping[Any, int]) -> list[Need]:
    """Return the needs with a count, urgent first, otherwise in the order of registration."""
    counted = (replace(need, count=counts.get(need, need.count)) for need in needs)
    return sorted((need for need in counted if need.count), key=lambda need: not need.urgent)
