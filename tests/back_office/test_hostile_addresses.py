"""Meaningless addresses and queries: no page fails on them."""

import re
import uuid
from collections.abc import Iterable, Iterator

import pytest
from django.contrib import admin
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.roles import Role
from tests.accounts.belongings import Belongings

pytestmark = [pytest.mark.django_db, pytest.mark.once]  # SQLite accepts NUL and long numbers

GARBAGE = ["1", "x", "%00", "%ED%A0%80", "9" * 40, "_00", "_5F", str(uuid.UUID(int=1)), "%E2%80%AE", "-1"]
QUERIES = [
    "q=%00", "q=%ED%A0%80", f"q={'x' * 5000}", "q=" + "+x" * 500, "p=x", "p=0", f"p={'9' * 30}", "p=-1", "p=%00",
    "o=99", "o=x", "o=%00", "o=1.1.1.-1", "all=", "all=%00", "e=1", "_to_field=x", "_to_field=id", "_to_field=%00",
    "_popup=1", "_popup=%00", "_changelist_filters=%00", "_changelist_filters=q%3D%2500", "_facets=True", "pk=%00",
    "pk__in=%00", "id__exact=x", "organization__slug=%00", "organization__owner__password__startswith=a", "&&==&",
    "%00=%00", "_source_model=%00", "next=%00", "app_label=x&model_name=x&field_name=x&term=%00",
]  # fmt: skip


def routes(entries: list, before: str = "") -> Iterator[str]:
    """Yield the route of every page, with `<…>` for its values."""
    for entry in entries:
        route = before + str(entry.pattern)
        if isinstance(entry, URLPattern):
            yield re.sub(r"[\^$\\]|\(.*\)", "", route)
        elif isinstance(entry, URLResolver) and not route.startswith("v1/"):
            yield from routes(entry.url_patterns, route)


@pytest.fixture
def browser(api, signed_in):
    belongings = Belongings(api)
    for _ in range(2):
        belongings.decision()
    return signed_in(Role.OWNER)


def failed(browser, addresses: Iterable[str]) -> list[str]:
    return [address for address in addresses if browser.get(address).status_code >= 500]


def test_no_address_of_a_page_fails(browser, capsys):
    asked = {
        f"/{re.sub('<[^>]+>', value, route)}" for route in routes(get_resolver().url_patterns) for value in GARBAGE
    }
    assert {"/admin/r/1", "/admin/jsi18n/", "/admin/autocomplete/", "/admin/decisions/decision/x/change/"} <= asked
    assert failed(browser, sorted(asked)) == []
    assert "exception" not in capsys.readouterr().err


def test_no_query_of_a_list_fails(browser, capsys):
    lists = {
        f"/admin/{model._meta.app_label}/{model._meta.model_name}/": pages
        for model, pages in admin.site._registry.items()
    }
    asked = [f"{path}?{query}" for path in [*lists, "/admin/", "/sign-in/"] for query in QUERIES]
    for path, pages in lists.items():
        for entry in pages.list_filter:
            name = getattr(entry, "parameter_name", None) or (entry if isinstance(entry, str) else entry[0])
            asked += [f"{path}?{name}{lookup}={value}" for lookup in ("", "__gte") for value in GARBAGE[:5]]
    assert failed(browser, asked) == []
    assert "exception" not in capsys.readouterr().err
