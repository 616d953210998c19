"""The table of docs/personal-data.md, written from the code: `python -m docs.personal_data`."""

import os
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.apps import apps  # noqa: E402

from config.personal_data import Column, Fate, declared  # noqa: E402

PAGE = Path(__file__).with_name("personal-data.md")
_BEGIN, _END = "<!-- columns -->\n", "<!-- end of columns -->"
_NOTE = "*Generated from the code by `make docs`: change the code, not this table.*\n\n"


def table() -> str:
    """Return the table of columns: what each may hold and what a disposal does to it. The apps that hold most about
    people come first."""
    order = {label: position for position, label in enumerate(("decisions", "notices", "connectors", "retention"))}
    models = sorted(declared(), key=lambda model: order.get(model._meta.app_label, len(order)))
    proxies = [model for model in apps.get_models() if model._meta.proxy]
    rows = [
        f"| `{model._meta.db_table}` | `{name}` | {column.holds} | {_fate(column)} |"
        for model in models
        if model not in proxies
        for name, column in declared()[model].items()
    ]
    return "\n".join(["| table | column | may hold | a disposal |", "|---|---|---|---|", *rows])


def with_table(page: str) -> str:
    """Return the page with its table as the code has it now."""
    before, _, after = page.partition(_BEGIN)
    return before + _BEGIN + _NOTE + table() + "\n" + _END + after.partition(_END)[2]


def _fate(column: Column) -> str:
    words = {Fate.KEPT: "keeps it", Fate.AGES: "leaves it to its age"}.get(column.fate, f"**{column.fate.value}**")
    return f"{words}. {column.note}".strip() if column.note else words


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
