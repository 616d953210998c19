"""Verdicts on families: by the policy, by the floors of packs, by holds, and by unfinished work."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from custody.record_types import Families
from decisions.models import Decision
from notices.models import Notice
from retention import rules
from retention.models import Policy
from tests.custody.test_record_types import NOT_DELIVERED
from tests.notices.conftest import approve_acknowledged, done, drafted, step
from tests.retention.conftest import NOW, decided, hold_by, hold_on, reasons, verdicts

pytestmark = pytest.mark.django_db


def test_a_family_is_due_from_the_day_on_and_not_before(api):
    assert reasons(decided(api, "a", 29), decided(api, "b", 30), decided(api, "c", 31)) == ["not_yet", "due", "due"]


def test_a_record_without_a_date_counts_from_its_receipt(api, clock):
    api.ingest({"decision_id": "x"})
    decision = Decision.objects.get(decision_id="x")
    assert verdicts(decision)[0].disposed_from == NOW + timedelta(days=30)


@pytest.mark.parametrize(("year", "reason"), [("0001", "due"), ("9999", "not_yet")])
def test_a_record_may_name_any_year_of_the_calendar(api, year, reason):
    assert api.ingest({"decision_id": "x", "decided_at": f"{year}-01-01T00:00:00Z"}).status_code == 201
    (verdict,) = verdicts(Decision.objects.get(decision_id="x"), days=36_500)
    assert verdict.reason == reason


def test_a_packs_floor_lengthens_a_shorter_policy_and_cites_its_law(api, clock):
    clock.move_to(NOW - timedelta(days=40))
    decision = decided(api, "a", 40)
    notice = drafted(api, "a", pack="us_co_admt")
    done(step(api, notice, "withdraw"))
    clock.move_to(NOW)
    (verdict,) = verdicts(decision, days=30)
    assert (verdict.reason, verdict.floor.days, verdict.floor.source) == ("floor", 1096, "us_co_admt")
    assert "1703" in verdict.floor.citation
    assert verdict.disposed_from == verdict.counts_from + timedelta(days=1096)
    (verdict,) = verdicts(decision, days=2000)
    assert (verdict.reason, verdict.floor) == ("not_yet", None)


def test_an_open_notice_is_an_obstacle(api, clock):
    clock.move_to(NOW - timedelta(days=40))
    decision = decided(api, "a", 40, outcome={"action": "denied"})
    notice = drafted(api, "a", pack="general")
    clock.move_to(NOW)
    (verdict,) = verdicts(decision)
    assert (verdict.reason, verdict.obstacles) == (
        "obstacle",
        (NOT_DELIVERED,),
    )
    clock.move_to(NOW - timedelta(days=40))
    done(approve_acknowledged(api, notice))
    done(step(api, notice, "deliveries", {"channel": "hand"}))
    clock.move_to(NOW)
    assert Notice.objects.get().state == "delivered"


def test_holds_keep_a_due_family_and_are_named(api):
    decision = decided(api, "a", 40)
    first, second = hold_on(decision), hold_by(api.organization, received_from="2020-01-01T00:00:00Z")
    (verdict,) = verdicts(decision)
    assert (verdict.reason, verdict.holds) == ("hold", (first.number, second.number))


def test_evaluating_many_families_costs_no_more_queries_than_one(api):
    many = [decided(api, f"d{n}", 40) for n in range(12)]
    hold_by(api.organization, action="denied")

    def cost(chosen):
        asked = Families(api.organization.pk, [decision.pk for decision in chosen])
        with CaptureQueriesContext(connection) as queries:
            assert len(rules.evaluate(asked, Policy(days=30), NOW)) == len(chosen)
        return len(queries)

    assert cost(many[:1]) == cost(many)


def test_another_organizations_family_has_no_verdict(api, other_api):
    theirs = decided(other_api, "a", 40)
    assert rules.evaluate(Families(api.organization.pk, [theirs.pk]), Policy(days=30), NOW) == {}


def test_the_cutoff_is_so_many_days_ago():
    assert rules.cutoff(Policy(days=10), datetime(2026, 1, 11, tzinfo=UTC)) == datetime(2026, 1, 1, tzinfo=UTC)
