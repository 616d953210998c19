"""An owner confirms a daily run that asks, for at most the number they saw."""

import pytest
from django.db import IntegrityError, transaction

from accounts import callers, selectors
from accounts.audit import COMMAND_LINE
from accounts.models import AuditEvent
from accounts.roles import Role
from config.errors import NotAllowed, NotFound
from retention import services
from retention.errors import DoesNotAsk
from retention.models import Run
from tests.people import add_person
from tests.retention.conftest import NOW, set_days
from tests.retention.test_announcements import asking

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(organization, clock):
    """A run that asks, under the policy in force."""
    set_days(organization, 30)
    services.send_announcements()
    clock.shift(7 * 24 * 3600)
    return asking(organization)


def confirm(run, candidates=9):
    services.confirm_run(caller=callers.command_line(run.organization_id), run=run, candidates=candidates)
    run.refresh_from_db()
    return run


def test_a_confirmed_run_resumes_and_names_its_owner_and_time(run):
    confirmed = confirm(run)
    assert (confirmed.state, confirmed.confirmed_by) == ("running", str(COMMAND_LINE))
    assert confirmed.confirmed_at
    assert confirmed.lease_token is None
    event = AuditEvent.objects.get(verb="retention_run.confirmed")
    assert (event.object_id, event.detail) == (str(run.pk), {"families": 9})


@pytest.mark.parametrize("change", [{"candidates": 10}, {"state": "stopped", "finished_at": NOW}, {"policy": 2}])
def test_a_run_that_changed_since_the_owner_saw_it_is_not_confirmed(run, change):
    Run.objects.filter(pk=run.pk).update(**change)
    with pytest.raises(DoesNotAsk):
        confirm(run)
    assert not AuditEvent.objects.filter(verb="retention_run.confirmed").exists()


def test_a_run_is_confirmed_once(run):
    confirm(run)
    with pytest.raises(DoesNotAsk):
        confirm(run)


def test_without_a_policy_in_force_nothing_is_confirmed(organization):
    with pytest.raises(DoesNotAsk):
        confirm(asking(organization))


@pytest.mark.parametrize("role", [Role.ADMIN, Role.APPROVER, Role.AUDITOR])
def test_only_an_owner_confirms(run, organization, role):
    with pytest.raises(NotAllowed):
        services.confirm_run(
            caller=selectors.caller(add_person(organization, role)), run=run, candidates=run.candidates
        )


def test_another_organizations_owner_does_not_find_the_run(run, other_api):
    with pytest.raises(NotFound):
        services.confirm_run(caller=callers.command_line(other_api.organization.pk), run=run, candidates=run.candidates)


@pytest.mark.parametrize("state", ["running", "asks"])
def test_an_organization_has_one_unfinished_run(run, other_api, state):
    with pytest.raises(IntegrityError), transaction.atomic():
        asking(run.organization, state=state)
    asking(other_api.organization, state=state)


@pytest.mark.parametrize(
    "wrong", [{"candidates": None}, {"finished_at": NOW}, {"state": "finished"}, {"state": "failed"}]
)
def test_the_database_refuses_an_impossible_run(organization, wrong):
    with pytest.raises(IntegrityError), transaction.atomic():
        asking(organization, **wrong)
