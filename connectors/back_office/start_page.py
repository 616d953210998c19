"""Start-page entries of connectors: systems and connectors that stopped sending, by name."""

from collections.abc import Iterator, Sequence
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.back_office import Need, may_look
from accounts.back_office.lists import MAX_ROWS
from accounts.models import Organization
from accounts.roles import Permission
from connectors import selectors

_MAX_NAMES = 5
_MAX_NAME_CHARACTERS = 60


def needs(request: HttpRequest, organization: Organization) -> Iterator[Need]:
    """Yield systems that stopped sending decisions, and connectors that need attention, with one query each."""
    if may_look(request, Permission.READ_DECISIONS):
        systems = list(selectors.stopped_systems(organization.pk))
        page = reverse("admin:decisions_decision_changelist")
        if len(systems) == 1:
            page += "?" + urlencode({"system_name": systems[0]})
        yield _need(_("system"), _("systems"), _("that used to send decisions and stopped"), systems, page)
    if may_look(request, Permission.MANAGE_CONNECTORS):
        rows = list(selectors.in_need(organization.pk)[: MAX_ROWS + 1])
        page = reverse("admin:connectors_connector_changelist")
        for what, state, chosen in (
            ("that stopped", "stopped", [row for row in rows if row.stopped_at]),
            ("that fell silent", "silent", [row for row in rows if row.is_silent]),
            ("with items in quarantine", "quarantine", [row for row in rows if row.has_quarantined]),
        ):
            names = [row.name for row in chosen]
            yield _need(
                _("connector"),
                _("connectors"),
                what,
                names,
                f"{page}?state={state}",
                urgent=state == "stopped",
            )


def _need(one: str, many: str, what: str, names: Sequence[str], url: str, *, urgent: bool = False) -> Need:
    named = f"{what}: {_listed(names)}"
    return Need(text=f"{many} {named}", one=f"{one} {named}", count=len(names), url=url, urgent=urgent)


def _listed(names: Sequence[str]) -> str:
    """Return the first names, each isolated, so that a right-to-left name does not reorder the others."""
    shown = [f"\u2068{name[:_MAX_NAME_CHARACTERS]}\u2069" for name in names[:_MAX_NAMES]]
    hidden = len(names) - len(shown)
    return ", ".join(shown) + (f" and {hidden} more" if hidden else "")
