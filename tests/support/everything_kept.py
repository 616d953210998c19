"""Snapshot of all rows and files of the service, for tests that an operation changes none of them."""

from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core import serializers


def snapshot() -> dict[str, Any]:
    """Return every row of every table, without the last use of keys, and the times of all files."""
    rows = {model._meta.label: _rows(model) for model in apps.get_models() if model._meta.managed}
    files = {str(path): path.stat().st_mtime_ns for path in Path(settings.DATA_DIR).rglob("*") if _is_kept(path)}
    return {**rows, "files": files}


def _rows(model: Any) -> list[dict[str, Any]]:
    rows = serializers.serialize("python", model._base_manager.order_by("pk"))
    return [{**row, "fields": {n: v for n, v in row["fields"].items() if n != "last_used_at"}} for row in rows]


def _is_kept(path: Path) -> bool:
    return path.is_file() and not path.name.startswith("db.sqlite3")
