"""The menu of the back office: where each page belongs, and how much waits there."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.back_office import places
from accounts.models import Organization

MAX_SHOWN = 99
"""Counts in the menu stop here: a query reads no more rows."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the menu.

    Attributes:
        model: "app.model". The admin's pages of this model decide who may look, and its other pages belong here.
        name: the URL's name in the admin, by default that of the model's list.
        query: the query string of the page.
        label: the words of its tab, for items of several pages.
    """

    model: str
    name: str = ""
    query: str = ""
    label: str | Promise = ""

    @property
    def path(self) -> str:
        return reverse(f"admin:{self.name or self.model.replace('.', '_') + '_changelist'}")

    @property
    def url(self) -> str:
        return f"{self.path}?{self.query}" if self.query else self.path

    def is_visible(self, request: HttpRequest) -> bool:
        return admin.site.get_model_admin(apps.get_model(self.model)).has_view_permission(request)

    def rank(self, request: HttpRequest, model: str) -> int:
        """Return how closely a request belongs here: 0 for not at all."""
        if request.path != self.path:
            return int(model == self.model and not self.query)
        if self.query:
            return 3 if self.query in request.GET.urlencode() else 0
        return 2


@dataclass(frozen=True, slots=True)
class Item:
    """A line of the menu. Its first page opens; with several, each page shows all as tabs."""

    label: str | Promise
    pages: Sequence[Page]
    count: str = ""


# The lines of each group. The group without a name has no heading.
MENU: Mapping[str | Promise, Sequence[Item]] = {
    _("Work"): [
        Item(_("To do"), [Page("notices.notice")], "to_do"),
        Item(_("Requests"), [Page("notices.reviewrequest")], "requests"),
        Item(_("To deliver"), [Page("notices.notice", query="queue=approved")], "to_deliver"),
    ],
    "": [
        Item(
            _("Decisions"),
            [
                Page("decisions.decision", label=_("Decisions")),
                Page("decisions.reconsideration", label=_("Reconsiderations")),
            ],
        ),
        Item(
            _("Reports"),
            [
                Page("notices.noticesettings", "notice-report", label=_("Notices")),
                Page("decisions.decision", "reconsideration-report", label=_("Reconsiderations")),
            ],
        ),
    ],
    _("Settings"): [
        Item(_("Organization"), [Page("notices.noticesettings")]),
        Item(
            _("People"),
            [
                Page("accounts.member", label=_("Members")),
                Page("accounts.invite", label=_("Invitations")),
                Page("notices.authoritygrant", label=_("Who may approve")),
            ],
        ),
        Item(_("API keys"), [Page("accounts.apikey")]),
        Item(_("Notices and packs"), [Page("notices.noticesettings", "notice-packs")]),
        Item(_("Phrasebook"), [Page("notices.phrase")]),
        Item(_("Mappings"), [Page("decisions.mapping")]),
        Item(_("Connectors"), [Page("connectors.connector")]),
        Item(
            _("Custody"),
            [
                Page("custody.entry", label=_("Stored records")),
                Page("custody.key", label=_("Signing keys")),
                Page("custody.storagetarget", label=_("Storage")),
                Page("custody.entry", "choose-cloud", label=_("Test a cloud")),
            ],
        ),
        Item(
            _("Retention"),
            [
                Page("retention.policy", label=_("Policy")),
                Page("retention.hold", label=_("Holds")),
                Page("custody.disposal", label=_("Disposals")),
                Page("retention.policy", "subject-request", label=_("Access requests")),
            ],
        ),
        Item(_("Audit"), [Page("accounts.auditevent")]),
    ],
}

Counts = Callable[[HttpRequest, Organization], Mapping[str, int]]
_COUNTS: list[Counts] = []


def register_counts(source: Counts) -> None:
    """Ask `source` for counts of the menu whenever a page is shown.

    Args:
        source: takes the request and the current organization and returns counts by `Item.count`, in one query. A
            count above MAX_SHOWN means "more".
    """
    _COUNTS.append(source)


@dataclass(frozen=True, slots=True)
class Link:
    label: str | Promise
    url: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Menu:
    """The menu, seen from one page.

    Attributes:
        groups: the links of each group, with their counts.
        item: the link of the item to which the page belongs, if any.
        tabs: the pages of this item, if there are several.
        is_listed: whether the page itself is in the menu, and not below such a page.
        trail: the links above a page that is not listed. The last leads back to the list as the person left it.
    """

    groups: Mapping[str | Promise, Sequence[tuple[Link, int]]]
    item: Link | None = None
    tabs: Sequence[Link] = ()
    is_listed: bool = False
    trail: Sequence[Link] = ()

    @property
    def here(self) -> str:
        """The address of the page of the menu that is open, or above the open page."""
        current = [tab.url for tab in self.tabs if tab.is_current]
        return current[0] if current else self.item.url if self.item else ""


def menu(request: HttpRequest, organization: Organization | None, model: str) -> Menu:
    """Return the menu of a page.

    Args:
        model: "app.model" of the page, or "".
    """
    sources = [source(request, organization) for source in _COUNTS] if organization else []
    counts = {name: count for source in sources for name, count in source.items()}
    nearest = max(_pages(), key=lambda page: page.rank(request, model))
    rank = nearest.rank(request, model)
    if rank == 1:
        nearest = _left(request, nearest)
    current = nearest if rank else None
    groups: dict[str | Promise, list[tuple[Link, int]]] = {}
    item, tabs = None, []
    for group, items in MENU.items():
        for entry in items:
            pages = [page for page in entry.pages if page.is_visible(request)]
            if not pages:
                continue
            link = Link(entry.label, pages[0].url, current in entry.pages)
            groups.setdefault(group, []).append((link, counts.get(entry.count, 0)))
            if link.is_current:
                item, tabs = link, [Link(page.label, page.url, page == current) for page in pages]
    trail = [*_trail(request, item, tabs, nearest)] if item else []
    return Menu(groups, item, tabs if len(tabs) > 1 else [], rank > 1, trail)


def _left(request: HttpRequest, page: Page) -> Page:
    """Return the page of the same list that the person left, such as "To deliver" instead of "To do"."""
    query = places.place(request, page.path)
    return next((other for other in _pages() if other.query and other.path == page.path and other.query in query), page)


def _trail(request: HttpRequest, item: Link, tabs: Sequence[Link], current: Page) -> Iterator[Link]:
    if item.url != current.url:
        yield item
    query = places.place(request, current.path)
    yield Link(current.label or item.label, f"{current.path}?{query}" if query else current.url, is_current=False)


def _pages() -> Iterator[Page]:
    return (page for items in MENU.values() for item in items for page in item.pages)
