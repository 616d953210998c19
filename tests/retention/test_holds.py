"""A hold covers a family, or all families that match a filter, until it is lifted. Its texts stay in its row."""

import json
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from accounts import callers
from accounts.models import AuditEvent
from custody.disposal import age_sweeps
from custody.record_types import Families
from decisions.models import Decision
from retention import rules, selectors, services
from retention.errors import HoldLifted
from retention.models import Hold
from tests.notices.conftest import done
from tests.reconsiderations.conftest import reconsider
from tests.retention.conftest import NOW, decided, hold_by, hold_on, post, put, reasons
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

NOON, LATE = "2026-07-01T12:00:00Z", "2026-07-01T12:00:00.5Z"
SECRETS = ("Jane Example", "jane's claim", "loan of jane", "settled with jane")


def covered(*decisions):
    """Return the ids of these decisions whose families are held."""
    asked = Families(decisions[0].organization_id, [decision.pk for decision in decisions])
    return [decision.decision_id for decision in decisions if rules.holds_on(asked)[decision.pk]]


def test_a_hold_on_any_record_of_a_family_covers_the_family(api):
    first, other = decided(api, "loan-1", 40), decided(api, "loan-2", 40)
    review = Decision.objects.get(decision_id=done(reconsider(api))["decision_id"])
    assert hold_on(review).root == first.pk
    assert covered(first, other) == ["loan-1"]


FIELDS = {
    "action": ("denied", {"outcome": {"action": "denied"}}, {"outcome": {"action": "Denied"}}),
    "system": ("scorer", {"system": {"name": "scorer"}}, {"system": {"name": "scorer 2"}}),
    "subject_reference": ("p-1", {"subject": {"reference": "p-1"}}, {"subject": {"reference": "p-11"}}),
}


@pytest.mark.parametrize("name", FIELDS)
def test_a_filter_covers_only_equal_values(api, name):
    value, matching, other = FIELDS[name]
    one, two = decided(api, "one", 40, **matching), decided(api, "two", 40, **other)
    hold_by(api.organization, **{name: value})
    assert covered(one, two) == ["one"]


def test_a_filter_covers_decisions_from_a_source(api):
    one, two = decided(api, "one", 40), decided(api, "two", 40)
    with unguarded():
        Decision.objects.filter(pk=two.pk).update(source="elsewhere")
    hold_by(api.organization, source="elsewhere")
    assert covered(one, two) == ["two"]


def test_times_of_a_filter_begin_with_the_first_and_end_before_the_last(api, clock):
    days = [decided(api, f"of {n}", n) for n in (41, 40, 39)]
    hold_by(
        api.organization,
        decided_from=(NOW - timedelta(days=40)).isoformat(),
        decided_to=(NOW - timedelta(days=39)).isoformat(),
    )
    assert covered(*days) == ["of 40"]
    hold_by(api.organization, received_from=NOW.isoformat(), received_to=(NOW + timedelta(days=1)).isoformat())
    assert covered(*days) == ["of 41", "of 40", "of 39"]


def test_one_decision_must_match_all_values_of_a_filter(api):
    one = decided(api, "one", 40, outcome={"action": "denied"}, system={"name": "a"})
    two = decided(api, "two", 40, outcome={"action": "denied"}, system={"name": "b"})
    hold_by(api.organization, action="denied", system="b")
    assert covered(one, two) == ["two"]


def test_a_filter_covers_a_family_if_any_decision_matches(api):
    first, other = decided(api, "loan-1", 40), decided(api, "loan-2", 40)
    done(reconsider(api, "loan-1", new_action="approved"))
    hold_by(api.organization, action="approved")
    assert covered(first, other) == ["loan-1"]


def test_a_filter_covers_later_decisions(api):
    hold_by(api.organization, action="denied")
    assert covered(decided(api, "later", 40, outcome={"action": "denied"})) == ["later"]


def test_a_hold_covers_nothing_of_another_organization(api, other_api):
    ours, theirs = decided(api, "one", 40), decided(other_api, "one", 40)
    hold_by(other_api.organization, received_from="2000-01-01T00:00:00Z")
    Hold.objects.create(
        organization=other_api.organization, number=9, matter="x", reason="x", root=ours.pk, placed_at=NOW
    )
    assert covered(ours) == []
    assert covered(theirs) == ["one"]
    assert (selectors.count_held(api.organization.pk), selectors.count_held(other_api.organization.pk)) == (0, 1)


@pytest.mark.once
def test_two_holds_are_lifted_one_by_one(api):
    decision = decided(api, "one", 40)
    first, second = hold_on(decision), hold_on(decision)
    caller = callers.command_line(api.organization.pk)
    services.lift_hold(caller=caller, hold=first, because="Settled.")
    assert reasons(decision) == ["hold"]
    services.lift_hold(caller=caller, hold=second, because="Settled.")
    assert reasons(decision) == ["due"]


@pytest.mark.once
def test_a_hold_is_lifted_once(api):
    hold, caller = hold_on(decided(api, "one", 40)), callers.command_line(api.organization.pk)
    services.lift_hold(caller=caller, hold=hold, because="Settled.")
    with pytest.raises(HoldLifted):
        services.lift_hold(caller=caller, hold=hold, because="Other words.")
    hold.refresh_from_db()
    assert hold.lifted_because == "Settled."


@pytest.mark.parametrize(
    "wrong",
    [
        {"root": None}, {"filter": {"action": "x"}}, {"matter": ""}, {"reason": ""}, {"lifted_at": NOW},
        {"lifted_by": "x"}, {"lifted_because": "x"},
    ],
)  # fmt: skip
def test_the_database_refuses_an_impossible_hold(api, wrong):
    root = decided(api, "one", 40).pk
    right = {"number": 1, "matter": "x", "reason": "x", "root": root, "filter": None, "placed_at": NOW}
    with pytest.raises(IntegrityError), transaction.atomic():
        Hold.objects.create(organization=api.organization, **right | wrong)
    Hold.objects.create(organization=api.organization, **right)


def test_held_families_are_counted_once(api):
    one = decided(api, "one", 40, outcome={"action": "denied"})
    decided(api, "two", 40, outcome={"action": "denied"})
    decided(api, "three", 40)
    hold_on(one)
    hold_by(api.organization, action="denied")
    assert selectors.count_held(api.organization.pk) == 2


def test_a_lifted_holds_texts_are_emptied_after_the_policys_days(api, other_api, clock):
    decision, caller = decided(api, "one", 40), callers.command_line(api.organization.pk)
    on_one, by_filter = hold_on(decision, SECRETS[0]), hold_by(api.organization, subject_reference=SECRETS[2])
    standing = hold_by(api.organization, subject_reference="still held")
    for hold in (on_one, by_filter):
        services.lift_hold(caller=caller, hold=hold, because=SECRETS[3])
    clock.shift(timedelta(days=30))
    for organization, before, count in (
        (other_api.organization, NOW + timedelta(seconds=1), 0),
        (api.organization, NOW, 0),
        (api.organization, NOW + timedelta(seconds=1), 2),
        (api.organization, NOW + timedelta(seconds=1), 0),
    ):
        assert age_sweeps.sweep(organization.pk, before)["lifted holds"] == count
    rows = list(Hold.objects.order_by("number").values_list("matter", "reason", "lifted_because", "root", "filter"))
    assert rows == [
        ("", "", "", decision.pk, None),
        ("", "", "", None, {}),
        ("Case 8", "An inquiry.", "", None, standing.filter),
    ]
    assert Hold.objects.first().lifted_at == NOW
    assert selectors.description(Hold.objects.get(number=2)) == "decisions that are no longer stored"


# ── by the API ──


@pytest.mark.once
def test_a_hold_is_placed_listed_and_lifted(api):
    decision = decided(api, "a/b", 40)
    placed = post(api, "holds", matter="Case 7", reason="A claim.", decision_id="a/b")
    assert placed.status_code == 201
    assert placed.json()["record_id"] == str(decision.pk)
    by_filter = post(
        api, "holds", matter="Case 8", reason="A claim.", filter={"received_from": "2026-01-01T01:00:00+01:00"}
    )
    assert by_filter.json()["filter"] == {"received_from": "2026-01-01T00:00:00Z"}
    assert [item["number"] for item in api.get("/v1/retention/holds").json()["items"]] == [2, 1]
    lifted = post(api, "holds/1/lift", reason="Settled.")
    assert (lifted.status_code, lifted.json()["lifted_because"]) == (200, "Settled.")
    states = {state: api.get("/v1/retention/holds", state=state).json()["items"] for state in ("in_force", "lifted")}
    assert {state: [item["number"] for item in items] for state, items in states.items()} == {
        "in_force": [2],
        "lifted": [1],
    }
    again = post(api, "holds/1/lift", reason="Settled.")
    assert (again.status_code, again.json()) == (409, {"detail": "This hold was lifted before."})


@pytest.mark.once
@pytest.mark.parametrize(
    ("body", "kind", "where"),
    [
        ({"reason": "x", "decision_id": "one"}, "missing", "matter"),
        ({"matter": "x", "decision_id": "one"}, "missing", "reason"),
        ({"matter": " ", "reason": "x", "decision_id": "one"}, "string_pattern_mismatch", "matter"),
        ({"matter": "x", "reason": "\n", "decision_id": "one"}, "string_pattern_mismatch", "reason"),
        ({"matter": "x", "reason": "x"}, "value_error", None),
        ({"matter": "x", "reason": "x", "decision_id": "one", "filter": {"action": "x"}}, "value_error", None),
        ({"matter": "x", "reason": "x", "filter": {}}, "value_error", "filter"),
        ({"matter": "x", "reason": "x", "filter": {"action": None}}, "value_error", "filter"),
        ({"matter": "x", "reason": "x", "filter": {"actoin": "x", "system": "y"}}, "extra_forbidden", "filter"),
        ({"matter": "x", "reason": "x", "filter": {"action": ""}}, "string_too_short", "filter"),
        ({"matter": "x", "reason": "x", "filter": {"decided_to": "2026-01-01"}}, "timezone_aware", "filter"),
        ({"matter": "x", "reason": "x", "filter": {"received_from": LATE, "received_to": NOON}}, "value_error", None),
        ({"matter": "x", "reason": "x", "filter": {"decided_from": NOON, "decided_to": NOON}}, "value_error", None),
        ({"matter": "x" * 201, "reason": "x", "decision_id": "one"}, "string_too_long", "matter"),
    ],
)  # fmt: skip
def test_a_hold_needs_a_matter_a_reason_and_a_decision_or_filter(api, body, kind, where):
    decided(api, "one", 40)
    answer = post(api, "holds", **body)
    assert answer.status_code == 422
    (problem,) = answer.json()["detail"]
    assert problem["type"] == kind
    assert where is None or problem["loc"][:2] == ["body", where]
    assert not Hold.objects.exists()


@pytest.mark.once
def test_lifting_needs_a_reason_and_an_existing_hold(api):
    hold_on(decided(api, "one", 40))
    assert post(api, "holds/1/lift").status_code == 422
    assert post(api, "holds/1/lift", reason=" ").status_code == 422
    assert post(api, "holds/2/lift", reason="x").status_code == 404
    assert Hold.objects.get().lifted_at is None


@pytest.mark.once
def test_a_missing_decision_cannot_be_held(api, other_api):
    decided(other_api, "theirs", 40)
    for name in ("unknown", "theirs"):
        answer = post(api, "holds", matter="x", reason="x", decision_id=name)
        assert answer.status_code == 404
        assert "no decision of this id" in answer.json()["detail"]


@pytest.mark.once
def test_a_holds_texts_and_filter_are_in_no_log_audit_event_or_error(api, capfd):
    placed = post(api, "holds", matter=SECRETS[0], reason=SECRETS[1], filter={"subject_reference": SECRETS[2]})
    assert placed.status_code == 201
    assert post(api, "holds/1/lift", reason=SECRETS[3]).status_code == 200
    wrong = post(
        api, "holds", matter=SECRETS[0] * 100, reason=SECRETS[1] * 1000, filter={"subject_reference": SECRETS[2] * 100}
    )
    assert wrong.status_code == 422
    trail = json.dumps(list(AuditEvent.objects.values_list("verb", "object_id", "detail")))
    logged = "".join(capfd.readouterr())
    for secret in SECRETS:
        assert secret not in trail + logged + wrong.content.decode()
    assert AuditEvent.objects.get(verb="hold.placed").detail == {"covers": ["subject_reference"]}


def test_any_number_of_holds_can_be_in_force(api, clock):
    """There are more holds than SQLite reads in one condition."""
    held, free = decided(api, "loan-1", 40), decided(api, "loan-2", 40, subject={"reference": "person 7"})
    for decision in (held, decided(api, "loan-3", 40, subject={"reference": "person 1299"})):
        assert reasons(decision) == ["due"]
    rows = [
        Hold(number=number, matter="m", reason="r", placed_at=NOW, organization=api.organization, **covers)
        for number, covers in enumerate(
            [{"root": held.pk}] + [{"filter": {"subject_reference": f"person {n}"}} for n in range(100, 1300)], start=1
        )
    ]
    Hold.objects.bulk_create(rows)
    assert put(api, days=30, note="").json()["holds"] == {"in_force": 1201, "families": 2}
    assert reasons(held, free) == ["hold", "due"]
