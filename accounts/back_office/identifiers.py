"""Long ids on pages: their first characters, and a button that copies all of them."""

import re
import uuid
from typing import Any

from django.template.loader import render_to_string
from django.utils.html import format_html

_LONG = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(sha256:)?[0-9a-f]{32,128}")


def is_long_id(value: Any) -> bool:
    """Whether a value is a UUID, a digest or the id of a signing key."""
    return isinstance(value, uuid.UUID) or (isinstance(value, str) and _LONG.fullmatch(value) is not None)


def short_id(value: Any) -> str:
    """Return an id as HTML that shows its first characters, for use within a link."""
    return format_html('<code class="id" title="{0}">{0}</code>', value)


def copyable_id(value: Any, what: str = "") -> str:
    """Return an id as HTML that shows its first characters, and all of them on focus, with a button to copy it.

    Args:
        what: the name for screen readers, by default the id.
    """
    return render_to_string("admin/id.html", {"id": str(value), "what": what})
