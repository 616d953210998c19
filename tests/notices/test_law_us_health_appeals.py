"""Letters that decide a health appeal, and the time limits of appeals."""

import json
from datetime import date

import pytest

from notices import deadlines
from notices.packs import packs
from notices.record_paths import Facts
from tests.cases import each_case
from tests.notices.law_us import (
    HEALTH,
    RECEIVED,
    blocking,
    elements,
    record,
    rights,
)
from tests.notices.test_law_us_health import second

APPEALED = {"appeal": {"received_at": "2026-11-09T10:00:00Z"}}
LISTED = [{"name": "request", "received_at": "2026-11-02T10:00:00Z"}, {"name": "appeal", **APPEALED["appeal"]}]


@each_case("events", [APPEALED, LISTED])
@each_case("reconsiders", [{"decision_id": "d"}, "d", None])
@each_case(
    ("plan", "outcome", "day"),
    [
        ("employer", {"claim_type": "Pre-Service"}, date(2026, 12, 9)),
        ("individual", {"claim_type": "POST SERVICE"}, date(2027, 1, 8)),
        ("employer", {"urgency": "URGENT"}, date(2026, 11, 12)),
        ("medicare_advantage", {}, date(2026, 12, 9)),
        ("Medicare Part C", {"claim_type": "post_service"}, date(2027, 1, 8)),
    ],
)
def test_erisa_i_2_and_medicare_422_590_count_from_the_appeal(plan: str, outcome: dict, day: date, reconsiders, events):
    given = {**second(plan, action="denied", **outcome), "events": events, "reconsiders": reconsiders}
    facts = Facts(json.dumps(given).encode())
    [deadline] = deadlines.compute(packs()[HEALTH], facts, received_at=RECEIVED)
    assert (deadline.trigger, deadline.assumed, deadline.due_at.date()) == ("appeal_received", False, day)


def test_erisa_503_1_i_2_does_not_count_from_the_first_request():
    given = {**second("employer"), "events": {"request": {"received_at": "2026-01-02T10:00:00Z"}}}
    [deadline] = deadlines.compute(packs()[HEALTH], Facts(json.dumps(given).encode()), received_at=RECEIVED)
    assert (deadline.assumed, deadline.triggered_at) == (True, RECEIVED)
    assert "the appeal came in" in deadline.arithmetic


@pytest.mark.parametrize("plan", ["employer", "individual"])
def test_erisa_503_1_j_a_second_denial_without_provision_or_criteria_never_blocks(plan: str):
    lacking = second(plan, basis="not medically necessary")
    lacks = {"plan_provision_of_appeal", "clinical_criteria_of_appeal"}
    assert lacks <= {name for name, element in elements(lacking, HEALTH).items() if element.result == "missing"}
    assert blocking(lacking, HEALTH) == set(), "what could not be read only warns"
    whole = second(plan, basis="experimental", plan_provision="Section 4", clinical_criteria="Criteria 2")
    assert {elements(whole, HEALTH)[name].result for name in lacks} == {"present"}
    assert "scientific or clinical judgment" in rights(whole, HEALTH)


@pytest.mark.parametrize("plan", ["medicare_advantage", "MA-PD"])
def test_medicare_422_592_a_second_denial_names_the_independent_reviewer(plan: str):
    text = rights(second(plan), HEALTH)
    assert "your case now goes to an independent reviewer" in text
    assert "502(a)" not in text
    assert "independent reviewer" not in rights(second(plan, result="overturned"), HEALTH)


@pytest.mark.parametrize("outcome", [{"action": "overturned"}, {"result": "granted"}, {"action": "APPROVED"}])
def test_an_appeal_that_succeeds_offers_no_next_level(outcome: dict[str, str]):
    given = {**record(APPEALED, {"plan_type": "employer"}), "outcome": outcome}
    assert rights(given, HEALTH) == ""
