"""Authority of decision services: each service checks its caller."""

from contextlib import nullcontext

import pytest

from accounts.roles import Permission, Role, allows
from config.errors import NotAllowed, NotFound
from decisions import services
from decisions.models import Decision
from decisions.review_records import Review
from tests.people import caller
from tests.reconsiderations.conftest import RAW, REVIEW

pytestmark = [pytest.mark.django_db, pytest.mark.once]


def refusal(role, permission):
    """Return the context in which a service runs for a role: a refusal if the role lacks the permission."""
    return nullcontext() if allows(role, permission) else pytest.raises(NotAllowed)


@pytest.mark.parametrize("role", Role)
def test_ingest_without_the_permission_stores_nothing(organization, role):
    with refusal(role, Permission.INGEST_RECORDS):
        services.ingest(caller=caller(organization, role), raw=RAW, source="test")
    assert Decision.objects.exists() == allows(role, Permission.INGEST_RECORDS)


def test_bulk_ingest_without_the_permission_reads_no_line(organization):
    def lines():
        raise AssertionError("a line was read")
        yield b""

    with pytest.raises(NotAllowed):
        services.ingest_lines(caller=caller(organization, Role.AUDITOR), lines=lines(), source="test")


@pytest.mark.parametrize("role", Role)
def test_reconsidering_without_the_permission_records_nothing(organization, role):
    services.ingest(caller=caller(organization), raw=RAW, source="test")
    decision = Decision.objects.select_related("record").get()
    who = caller(organization, role)
    with refusal(role, Permission.RECONSIDER):
        services.reconsider(caller=who, decision=decision, review=Review(**REVIEW), source="test")
    assert (Decision.objects.count() == 2) == allows(role, Permission.RECONSIDER)


def test_a_decision_of_another_organization_is_not_found(organization, other_api):
    other_api.ingest(RAW)
    decision = Decision.objects.select_related("record").get()
    with pytest.raises(NotFound):
        services.reconsider(caller=caller(organization), decision=decision, review=Review(**REVIEW), source="test")
    assert Decision.objects.count() == 1
