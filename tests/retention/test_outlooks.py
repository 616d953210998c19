"""The line about retention on a decision's page: true while a shorter policy has yet to begin."""

import re
from datetime import timedelta
from html import unescape

import pytest

from accounts.roles import Role
from retention.models import Policy
from tests.retention.conftest import NOW, decided, hold_on, policy_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("clock")]


@pytest.fixture
def line(api, signed_in):
    """Return the line about retention of a decision that was made 60 days ago."""
    decision = decided(api, "x", 60)

    def shown():
        page = signed_in(Role.AUDITOR).get(f"/admin/decisions/decision/{decision.pk}/change/").content.decode()
        line = re.search(r"<dt>Retention</dt><dd>(.*?)</dd>", page, re.DOTALL)[1]
        return unescape(" ".join(re.sub(r"<[^>]+>", "", line).split())), decision

    return shown


def shorter(organization, *, begins_at):
    announced = begins_at - timedelta(days=7) if begins_at else None
    return policy_of(organization, 30, number=2, shortens=True, announced_at=announced, begins_at=begins_at)


def test_without_a_policy_a_decision_is_kept_indefinitely(line):
    assert line()[0] == "Kept indefinitely: there is no retention policy."


def test_a_policy_in_force_gives_the_date(line, organization):
    policy_of(organization, 90)
    assert line()[0] == "Kept until 20 December 2026, by policy 1."


def test_a_shorter_policy_disposes_of_nothing_before_it_begins(line, organization):
    policy_of(organization, 90)
    shorter(organization, begins_at=NOW + timedelta(days=6))
    assert line()[0] == "Kept until 26 November 2026, when policy 2 begins."


def test_an_earlier_end_under_the_policy_in_force_counts(line, organization):
    policy_of(organization, 62)
    shorter(organization, begins_at=NOW + timedelta(days=6))
    assert line()[0] == "Kept until 22 November 2026, by policy 1."


def test_a_policy_that_owners_do_not_know_yet_has_no_date(line, organization):
    policy_of(organization, 90)
    shorter(organization, begins_at=None)
    assert line()[0] == "Kept until policy 2 begins, a week after owners get the email about it."


def test_a_first_policy_begins_later_too(line, organization):
    begins_at = NOW + timedelta(days=6)
    policy_of(organization, 30, shortens=True, announced_at=NOW - timedelta(days=1), begins_at=begins_at)
    assert line()[0] == "Kept until 26 November 2026, when policy 1 begins."
    assert Policy.objects.get().begins_at == begins_at


def test_a_hold_keeps_a_decision_past_its_period(line, organization):
    policy_of(organization, 30)
    ended = "Past its retention period, which ended on 21 October 2026, by policy 1"
    text, decision = line()
    assert text == f"{ended}."
    hold_on(decision)
    assert line()[0] == f"{ended}. Kept anyway while hold 1 is in force."
