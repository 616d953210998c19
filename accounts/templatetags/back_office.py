"""Tags and filters of the back office's templates."""

from typing import Any

from django import template
from django.contrib.admin.templatetags.admin_list import results
from django.contrib.admin.views.main import ChangeList
from django.forms import BoundField, Form
from django.http import HttpRequest
from django.template.context import RequestContext
from django.utils.text import slugify
from django.utils.translation import gettext

from accounts import selectors
from accounts.back_office import copyable_id, label_of, lists, navigation, start_page, time_tag
from accounts.back_office.navigation import Menu
from accounts.back_office.start_page import StartPage
from accounts.models import Organization
from config.words import codes_marked, in_words

register = template.Library()


@register.simple_tag
def organization_of(request: HttpRequest) -> Organization | None:
    """Return the organization whose rows the pages show."""
    return selectors.current_organization(request)


@register.simple_tag
def owes_second_factor(request: HttpRequest) -> bool:
    """Whether the operator must confirm a second factor before they act."""
    who = selectors.signed_in_caller(request)
    return who is not None and who.owes_second_factor


@register.simple_tag
def organizations_of(request: HttpRequest) -> list[Organization]:
    """Return the organizations the operator may switch between."""
    return selectors.organizations(request)


@register.simple_tag
def menu_of(request: HttpRequest, opts: Any) -> Menu:
    """Return the menu of a page, as the operator may see it.

    Args:
        opts: the options of the model to which the page belongs, or "".
    """
    return navigation.menu(request, selectors.current_organization(request), getattr(opts, "label_lower", ""))


@register.simple_tag
def start_page_of(request: HttpRequest) -> StartPage | None:
    """Return the start page of the current organization."""
    organization = selectors.current_organization(request)
    return start_page.start_page(request, organization) if organization else None


@register.simple_tag
def chips_of(request: HttpRequest, changelist: ChangeList) -> list[tuple[str, str, str]]:
    """Return the title, value and address without it of each filter that narrows a list."""
    chips = []
    for spec in changelist.filter_specs:
        names = [name for name in spec.expected_parameters() if name]
        if values := [request.GET[name] for name in names if request.GET.get(name)]:
            _default, *others = spec.choices(changelist)
            selected = [str(choice["display"]) for choice in others if choice["selected"]]
            shown = selected[0] if selected else _span([str(getattr(spec, "words", str)(value)) for value in values])
            chips.append((str(spec.title), shown, changelist.get_query_string(remove=names)))
    return chips


def _span(values: list[str]) -> str:
    """Return the value of a filter, or both ends of its range."""
    if len(values) == 1:
        return values[0]
    return gettext("%(first)s to %(last)s") % {"first": values[0], "last": values[1]}


register.simple_tag(results, name="rows_of")
register.filter(label_of)
register.filter(in_words)
register.filter(codes_marked)
register.filter("moment", time_tag)
register.filter(copyable_id)


@register.filter
def sections(form: Form) -> list[tuple[str, list[BoundField]]]:
    """Return the visible fields of a form under the title of their section.

    A form's `sections` maps the first field of each section to its title. Fields before the first have no title.
    """
    titles = getattr(form, "sections", {})
    parts: list[tuple[str, list[BoundField]]] = [("", [])]
    for field in form.visible_fields():
        if field.name in titles:
            parts.append((titles[field.name], []))
        parts[-1][1].append(field)
    return [(title, fields) for title, fields in parts if fields]


@register.filter
def wrong_fields(form: Form) -> list[BoundField]:
    """Return the visible fields of a form that have errors."""
    return [field for field in form.visible_fields() if field.errors]


@register.filter
def capped(count: int, limit: int = 0) -> str:
    """Format a count that stops at `limit` + 1, by default that of lists: 1,001 becomes "1,000+"."""
    limit = limit or lists.MAX_ROWS
    return f"{min(count, limit):,}{'+' if count > limit else ''}"


@register.inclusion_tag("admin/post_button.html", takes_context=True)
def post_button(
    context: RequestContext, url: str, label: str, reason: str = "", key: str = "", look: str = ""
) -> dict[str, Any]:
    """Render a one-button form that posts to `url`. With a `reason`, the button is disabled and shows it.

    Args:
        key: the keyboard shortcut.
        look: "primary" for the page's main action. "danger" for an action without undo, which asks for confirmation.
    """
    shown = {"url": url, "label": label, "reason": reason, "key": key, "look": look}
    return {**shown, "why": f"why-{slugify(url)}", "csrf_token": context.get("csrf_token")}


@register.inclusion_tag("admin/submit_button.html")
def submit_button(label: str, reason: str = "", key: str = "", look: str = "primary", name: str = "") -> dict[str, Any]:
    """Render the button of a form with fields. Its arguments are those of `post_button`.

    Args:
        name: tells the view which of the form's buttons was pressed.
    """
    return {"label": label, "reason": reason, "key": key, "look": look, "name": name, "why": f"why-{slugify(label)}"}


@register.inclusion_tag("admin/copy_button.html")
def copy_button(text: str, what: str = "") -> dict[str, str]:
    """Render a button that copies `text`. It is hidden without scripts, so show the text beside it.

    Args:
        what: the name for screen readers, by default the text.
    """
    return {"text": text, "what": what or text}
