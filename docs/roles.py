"""The tables of docs/roles.md, written from the code: `python -m docs.roles`."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.urls import URLPattern, URLResolver, get_resolver  # noqa: E402

from accounts.roles import EVERYDAY, MATRIX, Permission, Role  # noqa: E402
from config.http.resources import ANYBODY  # noqa: E402

PAGE = Path(__file__).with_name("roles.md")
_NOTE = "*Generated from the code by `make docs`: change the code, not this table.*\n\n"
_METHODS = ("get", "post", "put", "patch", "delete")
_MEMBERS = "every role but `sender`"


def matrix() -> str:
    """Return the table of roles and permissions, with the permissions that call for a second factor."""
    rows = [
        [
            permission.value,
            *("yes" if role in MATRIX[permission] else "no" for role in Role),
            "no" if permission in EVERYDAY else "yes",
        ]
        for permission in Permission
    ]
    return _table(["may", *(f"`{role}`" for role in Role), "second factor"], rows)


def calls() -> str:
    """Return the table of the API's calls and the permissions they need."""
    return _table(["call", "needs"], sorted(_calls("", get_resolver().url_patterns)))


def with_tables(page: str) -> str:
    """Return the page with its two tables as the code has them now."""
    for name, table in (("matrix", matrix()), ("calls", calls())):
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, _, after = page.partition(start)
        page = before + start + _NOTE + table + "\n" + end + after.partition(end)[2]
    return page


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return (
        "\n".join("| " + " | ".join(cells) + " |" for cells in lines).replace("| --- ", "|---").replace("--- |", "---|")
    )


def _calls(prefix: str, patterns: list[URLPattern | URLResolver]) -> Iterator[list[str]]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _calls(route, pattern.url_patterns)
        elif route.startswith("v1/"):
            path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route)
            for method, permission in _operations(pattern.callback):
                yield [f"`{method.upper()} /{path}`", str(permission or _MEMBERS)]


def _operations(view: Any) -> Iterator[tuple[str, str | None]]:
    """Yield the methods of a path, each with the permission its operation names."""
    if hasattr(view, "actions"):
        for method in _METHODS:
            if method in view.actions:
                yield method, getattr(view.cls, view.actions[method]).permission
    else:  # the OpenAPI document is not a resource
        yield from ((method, ANYBODY) for method in _METHODS if hasattr(view.cls, method))


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text()))
