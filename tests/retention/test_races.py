"""Policies and holds of an organization are numbered one after the other, however many come at once."""

import pytest

from accounts import callers
from retention import services
from retention.errors import HoldLifted
from retention.models import Hold, Policy
from tests.retention.conftest import hold_by, set_days
from tests.threads import at_once

pytestmark = pytest.mark.usefixtures("shared_database")


def test_versions_and_holds_that_come_at_once_have_numbers_of_their_own(organization):
    at_once(6, lambda number: set_days(organization, 10 + number) and hold_by(organization, action=str(number)))
    for model in (Policy, Hold):
        assert sorted(model.objects.values_list("number", flat=True)) == [1, 2, 3, 4, 5, 6]


def test_the_same_policy_that_comes_at_once_is_one_version(organization):
    at_once(6, lambda _: set_days(organization, 30))
    assert Policy.objects.count() == 1


def test_of_those_who_lift_a_hold_at_once_one_does(organization):
    hold, caller = hold_by(organization, action="x"), callers.command_line(organization.pk)

    def lift(number):
        try:
            return services.lift_hold(caller=caller, hold=hold, because=str(number)).lifted_because
        except HoldLifted:
            return None

    (reason,) = filter(None, at_once(6, lift))
    assert Hold.objects.get().lifted_because == reason
