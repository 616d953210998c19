"""What the templates of the back office share."""

from typing import Any

from django import template
from django.apps import apps
from django.http import HttpRequest
from django.template.context import RequestContext
from django.utils.text import slugify

from accounts import selectors
from accounts.back_office import label_of, lists, start_page
from accounts.back_office.start_page import Chart, Need
from accounts.models import Organization

register = template.Library()


@register.simple_tag
def organization_of(request: HttpRequest) -> Organization | None:
    """The organization whose rows the pages show."""
    return selectors.current_organization(request)


@register.simple_tag
def owes_second_factor(request: HttpRequest) -> bool:
    """Whether the operator has to prove it before they act."""
    who = selectors.signed_in_caller(request)
    return who is not None and who.owes_second_factor


@register.simple_tag
def organizations_of(request: HttpRequest) -> list[Organization]:
    """Those between which the operator may switch."""
    return selectors.organizations(request)


@register.simple_tag
def needs_of(request: HttpRequest) -> list[Need]:
    """What needs attention in the organization."""
    organization = selectors.current_organization(request)
    return start_page.needs(request, organization) if organization else []


@register.simple_tag
def charts_of(request: HttpRequest) -> list[Chart]:
    """The charts of the organization."""
    organization = selectors.current_organization(request)
    return start_page.charts(request, organization) if organization else []


@register.filter
def daily_work_first(app_list: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The apps of the admin, those that build on others first: what people do all day before what it rests on."""
    order = [config.label for config in apps.get_app_configs()]
    return sorted(app_list, key=lambda app: order.index(app["app_label"]), reverse=True)


register.filter(label_of)


@register.filter
def capped(count: int) -> str:
    """A count as `capped_count` gives it: 1,001 is "1,000+"."""
    return f"{min(count, lists.MAX_ROWS):,}{'+' if count > lists.MAX_ROWS else ''}"


@register.inclusion_tag("admin/post_button.html", takes_context=True)
def post_button(
    context: RequestContext, url: str, label: str, reason: str = "", key: str = "", look: str = ""
) -> dict[str, Any]:
    """A form of one button that posts to `url`; with a `reason` against it, a disabled button that says why.

    Args:
        key: the letter that presses it.
        look: "default" for the page's main action; "danger" for what cannot be undone, which asks whether one is sure.
    """
    shown = {"url": url, "label": label, "reason": reason, "key": key, "look": look}
    return {**shown, "why": f"why-{slugify(url)}", "csrf_token": context.get("csrf_token")}


@register.inclusion_tag("admin/submit_button.html")
def submit_button(label: str, reason: str = "", key: str = "", look: str = "default", name: str = "") -> dict[str, Any]:
    """The button of a form with fields; `reason` and the others as for `post_button`.

    Args:
        name: which of a form's buttons it is, for the view.
    """
    return {"label": label, "reason": reason, "key": key, "look": look, "name": name, "why": f"why-{slugify(label)}"}


@register.inclusion_tag("admin/copy_button.html")
def copy_button(text: str, what: str = "") -> dict[str, str]:
    """A button that copies `text`. It is hidden where scripts do not run; the text itself must stand beside it.

    Args:
        what: what a screen reader calls it, if not the text itself.
    """
    return {"text": text, "what": what or text}
