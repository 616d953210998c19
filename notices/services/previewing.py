"""What a notice would say: the draft of a record that may never come."""

from collections.abc import Mapping
from typing import Any

from accounts.authority import requires
from accounts.callers import Caller
from accounts.models import Organization
from accounts.roles import Permission
from notices import previews, selectors
from notices.packs import Pack
from notices.previews import Preview
from notices.record_paths import Facts


@requires(Permission.DRAFT_NOTICES)
def preview(
    *, caller: Caller, facts: Facts, pack: Pack, recipient: Mapping[str, Any] | None = None, language: str = ""
) -> Preview:
    """What `draft` would make of a record if it came in now, in the organization's words and with its names. It keeps
    nothing, writes nothing into the audit trail, and asks custody for nothing.

    Args: as `notices.previews.preview`, and of the pack's languages.

    Raises:
        TooMuch: the record says more than a notice holds.
    """
    organization = Organization.objects.get(pk=caller.organization_id)
    sender = selectors.sender_of(organization)
    return previews.preview(facts, pack, sender, recipient=recipient, language=language)
