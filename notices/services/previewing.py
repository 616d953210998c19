"""Previews of a notice about a record that is not in custody."""

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
    """Draft a notice about a record with the organization's phrases and names. Store and audit nothing, and leave
    custody alone.

    Args: as in `notices.previews.preview`; `language` is one of the pack's.

    Raises:
        TooMuch: the record says more than a notice holds.
    """
    organization = Organization.objects.get(pk=caller.organization_id)
    sender = selectors.sender_of(organization)
    facts = selectors.mapped(caller.organization_id, facts)
    return previews.preview(facts, pack, sender, recipient=recipient, language=language)
