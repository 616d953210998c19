"""Services check their caller themselves, whoever stands before them."""

from contextlib import nullcontext

import pytest

from accounts.roles import Permission, Role, allows
from config.errors import NotAllowed, NotFound
from decisions import services
from decisions.models import Decision
from decisions.reviews import Review
from tests.people import caller
from tests.reconsiderations.conftest import RAW, REVIEW

pytestmark = [pytest.mark.django_db, pytest.mark.once]


def refusal(role, permission):
    """For `with`: what a service does to a role, by the matrix."""
    return nullcontext() if allows(role, permission) else pytest.raises(NotAllowed)


@pytest.mark.parametrize("role", Role)
def test_who_may_not_ingest_stores_nothing(organization, role):
    with refusal(role, Permission.INGEST_RECORDS):
        services.ingest(caller=caller(organization, role), raw=RAW, source="test")
    assert Decision.objects.exists() == allows(role, Permission.INGEST_RECORDS)


def test_who_may_not_ingest_is_refused_before_a_line_is_read(organization):
    def lines():
        raise AssertionError("a line was read")
        yield b""

    with pytest.raises(NotAllowed):
        services.ingest_lines(caller=caller(organization, Role.AUDITOR), lines=lines(), source="test")


@pytest.mark.parametrize("role", Role)
def test_who_may_not_reconsider_records_nothing(organization, role):
    services.ingest(caller=caller(organization), raw=RAW, source="test")
    decision = Decision.objects.select_related("record").get()
    who = caller(organization, role)
    with refusal(role, Permission.RECONSIDER):
        services.reconsider(caller=who, decision=decision, review=Review(**REVIEW), source="test")
    assert (Decision.objects.count() == 2) == allows(role, Permission.RECONSIDER)


def test_a_decision_of_another_organization_is_not_there(organization, other_api):
    other_api.ingest(RAW)
    decision = Decision.objects.select_related("record").get()
    with pytest.raises(NotFound):
        services.reconsider(caller=caller(organization), decision=decision, review=Review(**REVIEW), source="test")
    assert Decision.objects.count() == 1
