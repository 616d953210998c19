"""Decisions on the start page, and sections that other apps add to a decision's page."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.back_office import Bar, Chart, Flow, may_look
from accounts.models import Organization
from accounts.roles import Permission
from decisions import review_reports
from decisions.models import Decision

_BARS = 10
_NEWEST = 500


@dataclass(frozen=True, slots=True)
class Panel:
    """A section of a decision's page. `template` sees the page's context, and `context` as `panel`.

    An `urgent` panel is the next thing to do, so it comes first on the page. A `brief` panel is a line of the summary.
    """

    title: str
    template: str
    context: dict[str, Any]
    urgent: bool = False
    brief: bool = False


@dataclass(frozen=True, slots=True)
class ReviewPrompt:
    """A reason to reconsider a decision: the form's initial values, and the panel that the writer sees beside it."""

    initial: dict[str, str]
    panel: Panel


@dataclass(frozen=True, slots=True)
class Source:
    """Origin of a record in words, and its page if the operator may see one."""

    label: str
    url: str = ""


Panels = Callable[[HttpRequest, Decision], Panel | None]
ReviewPrompts = Callable[[HttpRequest, Decision], ReviewPrompt | None]
Sources = Callable[[HttpRequest, str], Source]
_PANELS: list[Panels] = []
_REVIEW_PROMPTS: list[ReviewPrompts] = []
_SOURCES: dict[str, Sources] = {}
_SOURCE_LABELS = {
    "api": gettext_lazy("the API"),
    "batch": gettext_lazy("a bulk upload"),
    "command": gettext_lazy("the command line"),
    "samples": gettext_lazy("the sample records"),
    "vault": gettext_lazy("a restored vault"),
}


def register_decision_panel(source: Panels) -> None:
    """Ask `source` for a section whenever a decision's page is shown. Apps call this from their `ready()`.

    Args:
        source: takes the request and the decision, which the operator may see.
    """
    _PANELS.append(source)


def panels(request: HttpRequest, decision: Decision) -> list[Panel]:
    """Return the sections of a decision's page, in the order of registration."""
    return [panel for source in _PANELS if (panel := source(request, decision))]


def register_review_prompt(source: ReviewPrompts) -> None:
    """Ask `source` why to reconsider a decision, whenever the form is shown. Apps call this from their `ready()`.

    Args:
        source: takes the request of an operator who may reconsider the decision, and the decision.
    """
    _REVIEW_PROMPTS.append(source)


def review_prompt(request: HttpRequest, decision: Decision) -> ReviewPrompt | None:
    """Return the first registered reason to reconsider a decision, or None."""
    return next((prompt for source in _REVIEW_PROMPTS if (prompt := source(request, decision))), None)


def flows(request: HttpRequest, organization: Organization) -> Iterator[Flow]:
    """Yield the decisions that came in."""
    if may_look(request, Permission.READ_DECISIONS):
        yield Flow(
            title=_("Decisions received"),
            rows=Decision.with_disposed.for_organization(organization),
            column="received_at",
            url=reverse("admin:decisions_decision_changelist"),
            is_ingest=True,
        )


def register_source(kind: str, source: Sources) -> None:
    """Ask `source` for words about records that came from `<kind>:<id>`. Apps call this from their `ready()`.

    Args:
        source: takes the request, and the id.
    """
    _SOURCES[kind] = source


def source_of(request: HttpRequest, decision: Decision) -> Source:
    """Return where a decision's record came from."""
    kind, _, source_id = decision.source.partition(":")
    if source_id and kind in _SOURCES:
        return _SOURCES[kind](request, source_id)
    return Source(str(_SOURCE_LABELS.get(decision.source, decision.source)))


def charts(request: HttpRequest, organization: Organization) -> Iterator[Chart]:
    """Yield the chart of reviews."""
    if not may_look(request, Permission.READ_DECISIONS):
        return
    yield Chart(
        title=_("Decisions changed on review"),
        bars=[
            Bar(system, round(100 * changed / reviews), _("%% of %(count)s") % {"count": reviews})
            for system, reviews, changed in review_reports.newest_by_system(organization.pk, _NEWEST)[:_BARS]
        ],
        url=reverse("admin:reconsideration-report"),
        description=_("Of the newest %(count)s reconsiderations, by system.") % {"count": f"{_NEWEST:,}"},
        full=100,
    )
