"""Notices in the export for the person concerned."""

from typing import Any

from django.template.loader import render_to_string

from custody.sealing import field_paths
from notices.letters.labels import language_of
from notices.models import Notice

_TOLD = ("decision_summary", "role_of_automated_system", "main_factors", "inputs_used")
_STANDING = {
    Notice.State.DRAFT: "This notice is a draft. It has not been sent.",
    Notice.State.IN_REVIEW: "This notice is being checked. It has not been sent.",
    Notice.State.APPROVED: "This notice is approved. No delivery has been recorded yet.",
    Notice.State.DELIVERED: "This notice was delivered.",
    Notice.State.WITHDRAWN: "This notice was taken back.",
}
_SAID = ("how_to_request_inputs", "how_to_request_review", "deadline_note")


def notice(exported: dict[str, Any]) -> str:
    """Return an object of `export` as HTML."""
    latest = exported["revisions"][-1]["content"] if exported["revisions"] else {}
    statements = [item["statement"] for name in _TOLD for item in latest.get(name, [])]
    shown = {
        "row": exported,
        "heading": "A notice in preparation" if exported["state"] in Notice.EDITABLE else "What you were told",
        "standing": _STANDING[exported["state"]],
        "language": language_of(exported["language"]),
        "title": latest.get("title", ""),
        "sentences": [*statements, *latest.get("rights", []), *(latest[name] for name in _SAID if latest.get(name))],
        "recipient": [(_words(path), value) for path, value in field_paths.scalars(exported["recipient"])],
    }
    return render_to_string("notices/readable.html", shown)


def _words(path: str) -> str:
    return path.replace("_", " ").replace(".", " / ")
