"""What retention keeps of holds that were lifted: that they were, and their words for a while."""

import uuid
from datetime import datetime

from django.db import transaction

from retention.models import Hold


def forget_lifted(organization_id: uuid.UUID, before: datetime) -> int:
    """Matter, reasons and what a filter looked for can name persons. Who placed and lifted it, and when, stays."""
    lifted = Hold.objects.for_organization(organization_id).filter(lifted_at__lt=before).exclude(matter="")
    with transaction.atomic():
        lifted.exclude(filter=None).update(filter={})
        return lifted.update(matter="", reason="", lifted_because="")


SWEEPS = {"words of holds that were lifted": forget_lifted}
