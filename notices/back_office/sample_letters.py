"""The letter about a sample record, beside the entries of a mapping that no one has confirmed yet."""

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.back_office import caller, may
from accounts.models import Organization
from accounts.roles import Permission
from config.errors import DomainError
from custody.sealing.field_paths import PathsTooLong
from decisions.mapping import builtin
from decisions.mapping.back_office import SampleLetter
from decisions.mapping.models import MappingVersion
from decisions.record.meanings import Entry
from decisions.record.walk import Table
from notices import check_results, previews, selectors
from notices.letters import render_text
from notices.mapped_facts import MappedFacts
from notices.packs import packs
from notices.record_paths import Facts


def letter(request: HttpRequest, record: dict[str, Any], entries: Sequence[Entry]) -> SampleLetter | None:
    """Return the letter under the organization's pack that a record would get by these entries, or None if the
    operator may not draft letters."""
    if not may(request, Permission.DRAFT_NOTICES):
        return None
    drafter = caller(request, Permission.DRAFT_NOTICES)
    organization = Organization.objects.get(pk=drafter.organization_id)
    pack = packs()[selectors.settings_of(organization.pk).default_pack]
    try:
        facts = MappedFacts(Facts(b"", record), MappingVersion(), known=builtin.read(record, Table(entries)))
        preview = previews.preview(facts, pack, selectors.sender_of(organization))
    except (DomainError, PathsTooLong) as error:
        return SampleLetter("", [str(getattr(error, "sentence", _("The paths of this record are too long.")))])
    return SampleLetter(render_text(preview.letter), check_results.check(preview.case, preview).problems)
