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
        yield _need(
            _("system that used to send decisions and stopped: %(names)s"),
            _("systems that used to send decisions and stopped: %(names)s"),
            systems,
            page,
        )
    if may_look(request, Permission.MANAGE_CONNECTORS):
        rows = list(selectors.in_need(organization.pk)[: MAX_ROWS + 1])
        page = reverse("admin:connectors_connector_changelist")
        yield _need(
            _("connector that stopped: %(names)s"),
            _("connectors that stopped: %(names)s"),
            [row.name for row in rows if row.stopped_at],
            f"{page}?state=stopped",
            urgent=True,
        )
        yield _need(
            _("connector that fell silent: %(names)s"),
            _("connectors that fell silent: %(names)s"),
            [row.name for row in rows if row.is_silent],
            f"{page}?state=silent",
        )
        yield _need(
            _("connector with items in quarantine: %(names)s"),
            _("connectors with items in quarantine: %(names)s"),
            [row.name for row in rows if row.has_quarantined],
            f"{page}?state=quarantine",
        )


def _need(one: str, many: str, names: Sequence[str], url: str, *, urgent: bool = False) -> Need:
    named = {"names": _listed(names)}
    return Need(text=many % named, one=one % named, count=len(names), url=url, urgent=urgent)


def _listed(names: Sequence[str]) -> str:
    """Return the first names, each isolated, so that a right-to-left name does not reorder the others."""
    shown = [f"\u2068{name[:_MAX_NAME_CHARACTERS]}\u2069" for name in names[:_MAX_NAMES]]
    hidden = len(names) - len(shown)
    listed = ", ".join(shown)
    return _("%(names)s and %(count)s more") % {"names": listed, "count": hidden} if hidden else listed
