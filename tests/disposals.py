"""Disposal of families in tests, as in a run of the retention policy, but without confirmations."""

import uuid

from django.db import transaction

from accounts.models import Organization
from custody.disposal import families
from custody.disposal.disposal_statements import Order
from custody.models import Disposal
from custody.record_types import Families
from custody.services.dispose import dispose, finish_disposals, prepare
from decisions.models import Decision

ORDER = Order(policy=3, days=30, reason="Its retention period has ended.", actor="system system")


def root(organization: Organization, decision_id: str = "loan-1") -> uuid.UUID:
    row = Decision.objects.for_organization(organization).get(decision_id=decision_id)
    return row.first_id or row.pk


def dispose_of(organization: Organization, *decision_ids: str, finish: bool = True) -> list[Disposal]:
    """Dispose of the families of some decisions."""
    roots = [root(organization, decision_id) for decision_id in decision_ids or ["loan-1"]]
    chosen = Families(organization.pk, roots)
    prepared = prepare(chosen, ORDER)
    with transaction.atomic():
        families.lock(chosen)
        rows = dispose(prepared, chosen.roots)
    assert rows, "nothing was disposed of"
    if finish:
        assert not any(failed for _, failed in finish_disposals(organization.pk))
    return rows
