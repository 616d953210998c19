"""Decisions and reconsiderations as HTML for the people they concern."""

from typing import Any

from django.template.loader import render_to_string

from config.http import strict_json
from config.http.strict_json import spelling
from custody.sealing import field_paths
from decisions import record_summary, records

_MAX_FIELDS = 500
"""Fields shown of one record. The machine-readable file has all of them."""


def decision(exported: dict[str, Any], *, is_review: bool) -> str:
    """Render an object of `RecordType.export` as HTML."""
    common = {"row": exported, "is_review": is_review}
    if exported["record"] is None:
        return render_to_string("decisions/readable.html", common)
    content = strict_json.read(exported["record"].encode(), number=spelling, integer=spelling)
    fields = field_paths.scalars(content)
    shown = {
        **common,
        "result": records.text(content, "outcome", "result"),
        "action": records.text(content, "outcome", "action"),
        "asked_by": str(content.get("requested_by", "")) if is_review else "",
        "by": records.text(content, "approval", "approver"),
        "system": records.text(content, "system", "name"),
        "reasons": record_summary.reasons(content.get("outcome")),
        "fields": [(_words(path), _text(value)) for path, value in fields[:_MAX_FIELDS]],
        "more": max(0, len(fields) - _MAX_FIELDS),
    }
    return render_to_string("decisions/readable.html", shown)


def _words(path: str) -> str:
    return " / ".join(key.replace("_", " ") for key in field_paths.keys(path))


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode()
    return value if isinstance(value, str) else {True: "yes", False: "no", None: "nothing"}[value]
