"""Simultaneous requests get consecutive numbers for policies and holds."""

import pytest

from accounts import callers
from retention import services
from retention.errors import HoldLifted
from retention.models import Hold, Policy
from tests.retention.conftest import hold_by, set_days
from tests.threads import at_once

pytestmark = pytest.mark.usefixtures("shared_database")


def test_simultaneous_versions_and_holds_get_distinct_numbers(organization):
    at_once(6, lambda number: set_days(organization, 10 + number) and hold_by(organization, action=str(number)))
    for model in (Policy, Hold):
        assert sorted(model.objects.values_list("number", flat=True)) == [1, 2, 3, 4, 5, 6]


def test_simultaneous_equal_policies_make_one_version(organization):
    at_once(6, lambda _: set_days(organization, 30))
    assert Policy.objects.count() == 1


def test_one_of_simultaneous_requests_lifts_a_hold(organization):
    hold, caller = hold_by(organization, action="x"), callers.command_line(organization.pk)

    def lift(number):
        try:
            return services.lift_hold(caller=caller, hold=hold, because=str(number)).lifted_because
        except HoldLifted:
            return None

    (reason,) = filter(None, at_once(6, lift))
    assert Hold.objects.get().lifted_because == reason
