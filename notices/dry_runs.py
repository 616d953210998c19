"""Notices in the dry run of an ingest."""

import uuid
from collections.abc import Iterator

from accounts.models import Organization
from config.errors import DomainError
from decisions.record import outcomes
from decisions.record_warnings import RecordWarning
from notices import checklist, previews, selectors, shapes
from notices.deadlines import OCCURRENCES
from notices.packs import flags, packs
from notices.record_paths import Facts

_KIND = "notice"


def lacking(organization_id: uuid.UUID, payload: bytes) -> Iterator[RecordWarning]:
    """Yield the problems of a notice about a record under the organization's default pack."""
    sender = selectors.sender_of(Organization.objects.get(pk=organization_id))
    pack = packs()[selectors.settings_of(organization_id).default_pack]
    try:
        preview = previews.preview(selectors.mapped(organization_id, Facts(payload)), pack, sender)
    except DomainError as error:
        yield RecordWarning(_KIND, "", error.sentence)
        return
    for problem in checklist.all_problems(preview.case, preview):
        verdict = "could not be approved" if problem.blocks(pack) else "could be approved with this warning open"
        yield RecordWarning(_KIND, "", f"A notice under {pack.short_name} {verdict}. {problem.sentence}")


def record_names() -> Iterator[str]:
    """Yield the fields of a record that letters, packs and deadlines read by name."""
    yield from outcomes.PATHS
    yield from flags.FLAGS
    for occurrences in OCCURRENCES.values():
        for occurrence in occurrences:
            yield from occurrence.paths
    for pack in packs().values():
        yield from (path for path in pack.record_paths if "*" not in path and not path.startswith(shapes.PREFIX))
