"""The demo's step that takes the sample decisions into custody."""

from collections import Counter

from accounts import callers
from accounts.models import Organization
from config.errors import Fault
from config.progress import progress
from custody.services import TAKEN
from decisions import samples
from decisions.models import Decision
from decisions.services import ingest_lines

SOURCE = "samples"


class SamplesRefused(Fault):
    """Not every sample is in custody."""

    code = "samples_refused"


def ingest_samples(organization: Organization) -> None:
    """Ingest the samples that are not in custody yet. Replays are harmless, so an interrupted run can be repeated.

    Raises:
        SamplesRefused: a sample was refused.
    """
    records = [*list(samples.mortgage_records())[: -samples.EXPORTED], *samples.synthetic_records()]
    if Decision.objects.for_organization(organization).filter(source=SOURCE).count() >= len(records):
        return
    statuses: Counter[str] = Counter()
    with progress("Taking custody of the sample decisions", len(records)) as advance:
        for line in ingest_lines(caller=callers.command_line(organization.id), lines=records, source=SOURCE):
            statuses[line.status] += 1
            advance(1)
    if set(statuses) - TAKEN:
        raise SamplesRefused(f"Not every sample was taken: {dict(statuses)}.")
