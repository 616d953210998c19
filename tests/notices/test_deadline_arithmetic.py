"""Due dates of notices and answers: by hand for the samples of every pack, by rule for any record."""

import json
import re
from datetime import UTC, date, datetime, time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decisions import samples
from notices import presenters
from notices.deadlines import OCCURRENCES, clock_deadline, compute, decided_on, parse_moment
from notices.packs import Clock, Pack, packs
from notices.record_paths import Facts
from tests.cases import each_case
from tests.docs.documents import section

RECEIVED = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
ASKED = datetime(2026, 11, 13, 22, 0, tzinfo=UTC)


def utc(day: str, at: str = "23:59:59") -> datetime:
    return datetime.fromisoformat(f"{day}T{at}+00:00")


def record(**fields: Any) -> Facts:
    return Facts(json.dumps(fields).encode())


def sample(decision_id: str) -> Facts:
    return next(
        facts for facts in map(Facts, samples.synthetic_records()) if facts.document["decision_id"] == decision_id
    )


def in_force(name: str) -> Pack:
    """Return a pack as it will be once its law is in force."""
    return packs()[name].model_copy(update={"effective_from": date(2018, 1, 1)})


def a_pack(**clock: Any) -> Pack:
    """Return the policy pack with this clock only."""
    fields = {
        "id": "clock",
        "trigger": "decision_date",
        "authority": "guidance",
        "citation": "A rule",
        "source": "policy",
    }
    clocks = (Clock.model_validate({**fields, **clock}),)
    return packs()["general"].model_copy(update={"clocks": clocks, "effective_from": date.min})


def due(day: str, **clock: Any) -> datetime:
    """Return when a clock that starts with a decision on this day runs out."""
    facts = record(decided_at=f"{day}T12:00:00Z")
    [deadline] = compute(a_pack(**clock), facts, received_at=utc("2400-01-01"))
    return deadline.due_at


@each_case(
    ("decision_id", "pack", "what", "expected"),
    [
        # Quebec: no later than the decision is communicated, and the record does not say when it was.
        ("synthetic-insurance-05", "ca_qc_12_1", "notice", []),
        ("synthetic-insurance-05", "ca_qc_12_1", "answer", [("thirty_days", "2026-12-13")]),
        # The AI Act and a policy set none.
        ("synthetic-hiring-01", "eu_ai_act_86", "notice", []),
        ("synthetic-hiring-01", "general", "notice", []),
        ("synthetic-insurance-03", "gdpr_22", "notice", []),
        ("synthetic-insurance-03", "gdpr_22", "answer", [("one_month", "2026-12-13")]),
        ("synthetic-benefits-02", "uk_gdpr_22c", "answer", [("one_month", "2026-12-13")]),
        ("synthetic-benefits-02", "uk_gdpr_22c", "acknowledgement", [("complaint_acknowledged", "2026-12-13")]),
        ("synthetic-hiring-03", "us_ca_admt", "answer", [("forty_five_days", "2026-12-28")]),
        # Friday, November 13: the 16th to the 20th are five, the 23rd to the 25th eight, Thanksgiving is none, the 27th
        # is the ninth and Monday, the 30th, the tenth.
        ("synthetic-hiring-03", "us_ca_admt", "acknowledgement", [("ten_business_days", "2026-11-30")]),
        ("synthetic-hiring-04", "us_co_admt", "notice", [("thirty_days", "2026-12-16")]),
        # The application was complete on October 30, ten days before the decision.
        ("synthetic-insurance-04", "us_ecoa_fcra", "notice", [("completed_application", "2026-11-29")]),
        # The plan is unknown.
        ("synthetic-prior-authorization-01", "us_health_denial", "notice", []),
    ],
)
def test_the_samples_are_due_as_counted_by_hand(
    decision_id: str, pack: str, what: Any, expected: list[tuple[str, str]]
):
    computed = compute(in_force(pack), sample(decision_id), received_at=RECEIVED, requested_at=ASKED, what=what)
    assert [(one.clock, one.due_at) for one in computed] == [(clock, utc(day)) for clock, day in expected]
    assert not any(one.assumed for one in computed)


def request_for_care(plan: str, urgency: str = "standard", **outcome: Any) -> Facts:
    request = {"urgency": urgency, "received_at": "2026-11-18T12:05:00-05:00"}
    return record(subject={"plan_type": plan}, events={"request": request}, outcome=outcome)


@each_case(
    ("facts", "expected"),
    [
        (request_for_care("medicare_advantage"), [("prior_authorization", utc("2026-11-25"))]),
        (
            request_for_care("medicare_advantage", "expedited"),
            [("prior_authorization_expedited", utc("2026-11-21", "17:05:00"))],
        ),
        (request_for_care("medicare_advantage", drug=True), []),
        (request_for_care("medicare_advantage", "expedited", drug=True), []),
        (request_for_care("medicare_advantage", claim_type="post_service"), []),
        (request_for_care("individual"), []),
        (request_for_care("individual", "expedited"), [("urgent", utc("2026-11-21", "17:05:00"))]),
        (request_for_care("individual", claim_type="pre_service"), [("pre_service", utc("2026-12-03"))]),
        (request_for_care("individual", claim_type="post_service"), [("post_service", utc("2026-12-18"))]),
        (request_for_care("employer"), []),
        (request_for_care("employer", claim_type="pre_service"), [("pre_service", utc("2026-12-03"))]),
        (request_for_care("employer", claim_type="post_service"), [("post_service", utc("2026-12-18"))]),
    ],
)
def test_each_plan_has_the_time_limits_of_its_own_rules(facts: Facts, expected: list[tuple[str, datetime]]):
    """CMS-0057-F: neither for plans of the exchanges nor for drugs. 45 CFR 147.136(b)(3)(i): individual plans have the
    time limits of employer plans."""
    computed = compute(packs()["us_health_denial"], facts, received_at=RECEIVED)
    assert [(one.clock, one.due_at) for one in computed] == expected


@each_case("name", sorted(packs()))
def test_every_time_limit_of_a_notice_is_measured(name: str):
    pack = packs()[name]
    measured = {one.clock for one in pack.elements if one.check == "sent_before"}
    assert {clock.id for clock in pack.clocks if clock.what == "notice"} <= measured
    for element in pack.elements:
        if element.clock and not element.when.on_request:
            assert element.applies == pack.clock(element.clock).applies


@pytest.mark.parametrize(
    ("name", "event", "expected"),
    [
        ("ca_qc_12_1", {"notification": {"sent_at": "2026-11-12T09:05:00-05:00"}}, ("with_the_decision", "2026-11-12")),
        ("us_ca_admt", {"access_request": {"received_at": "2026-11-12T09:05:00-08:00"}}, ("access", "2026-12-27")),
    ],
)
def test_a_time_limit_runs_only_where_the_record_shows_that_it_began(
    name: str, event: dict[str, Any], expected: tuple[str, str]
):
    decided = {"decided_at": "2026-11-10T09:00:00Z", "outcome": {"solely_automated": True}}
    assert compute(in_force(name), record(**decided), received_at=RECEIVED) == []
    [deadline] = compute(in_force(name), record(**decided, events=event), received_at=RECEIVED)
    assert (deadline.clock, deadline.due_at, deadline.assumed) == (expected[0], utc(expected[1]), False)


def test_ninety_days_are_counted_from_the_counteroffer_and_not_from_the_decision():
    facts = record(
        decided_at="2026-11-10T09:00:00Z",
        events={"counteroffer": {"made_at": "2026-09-01T09:00:00Z"}},
        outcome={"counteroffer_not_accepted": True},
    )
    [deadline] = compute(packs()["us_ecoa_fcra"], facts, received_at=RECEIVED)
    assert deadline.due_at == utc("2026-11-30")
    assert "90 days after September 1, 2026, when the counteroffer was made" in deadline.arithmetic


def test_an_expedited_request_has_seventy_two_hours_to_the_second():
    facts = request_for_care("medicare_advantage", "expedited")
    [deadline] = compute(packs()["us_health_denial"], facts, received_at=RECEIVED)
    assert deadline.due_at == utc("2026-11-21", "17:05:00")
    assert deadline.arithmetic == (
        "72 hours after 17:05:00 on November 18, 2026, when the request came in: "
        "until 17:05:00 on November 21, 2026 (UTC)."
    )


def test_a_deadline_names_its_law_and_its_calculation():
    [deadline] = compute(in_force("us_co_admt"), sample("synthetic-hiring-04"), received_at=RECEIVED)
    assert presenters.deadline(deadline) == {
        "clock": "thirty_days",
        "pack": "us_co_admt",
        "authority": "statute",
        "citation": "C.R.S. 6-1-1704(3)",
        "trigger": "decision_date",
        "triggered_at": "2026-11-16T16:18:55.000000Z",
        "assumed": False,
        "due_at": "2026-12-16T23:59:59.000000Z",
        "arithmetic": "30 days after November 16, 2026, when the decision was made: "
        "until the end of December 16, 2026 (UTC).",
    }


@each_case(
    ("name", "day", "runs"),
    [
        ("us_co_admt", "2026-12-31", False),
        ("us_co_admt", "2027-01-01", True),
        ("us_ca_admt", "2026-12-31", False),
        ("us_ca_admt", "2027-01-01", True),
        ("uk_gdpr_22c", "2026-02-04", False),
        ("uk_gdpr_22c", "2026-02-05", True),
    ],
)
def test_a_law_that_was_not_in_force_on_the_day_of_the_decision_sets_no_deadline(name: str, day: str, runs: bool):
    pack, events = packs()[name], {"access_request": {"received_at": f"{day}T10:00:00Z"}}
    facts = record(decided_at=f"{day}T09:00:00Z", events=events, outcome={"action": "denied"})
    times = {"received_at": utc("2027-06-01"), "requested_at": utc("2027-06-01")}
    purposes: list[Any] = ["notice", "answer", "acknowledgement"]
    computed = [one for what in purposes for one in compute(pack, facts, what=what, **times)]
    assert bool(computed) is runs


@pytest.mark.parametrize(
    ("asked", "explanation"),
    [
        ("2027-02-09T10:00:00Z", "when the person asked for access: until the end of March 26, 2027 (UTC)."),
        ("2027-03-01T10:00:00Z", "By the record, the person asked for access after the service received it; the true "
         "deadline may be later."),
        ("soon", "The record does not say when the person asked for access; the true deadline may be earlier."),
    ],
)  # fmt: skip
def test_a_deadline_says_why_another_time_is_assumed(asked: str, explanation: str):
    facts = record(decided_at="2027-02-01T09:00:00Z", events={"access_request": {"received_at": asked}})
    [deadline] = compute(packs()["us_ca_admt"], facts, received_at=utc("2027-02-10"))
    assert deadline.arithmetic.endswith(explanation)


def test_an_answer_has_no_deadline_until_the_person_asks():
    facts = sample("synthetic-hiring-03")
    for what in ("answer", "acknowledgement"):
        assert compute(in_force("us_ca_admt"), facts, received_at=RECEIVED, what=what) == []
    assert clock_deadline(in_force("us_ca_admt"), "forty_five_days", facts, received_at=RECEIVED) is None


def test_a_clock_that_does_not_apply_sets_no_deadline():
    facts = sample("synthetic-insurance-04")
    assert clock_deadline(packs()["us_ecoa_fcra"], "counteroffer", facts, received_at=RECEIVED) is None


def test_the_earliest_deadline_counts_and_a_binding_one_wins_a_tie():
    facts = record(
        decided_at="2026-11-12T10:00:00Z",
        subject={"plan_type": "employer"},
        events={"request": {"urgency": "expedited", "received_at": "2026-11-09T10:00:00Z"}},
        outcome={"claim_type": "pre_service"},
    )
    computed = compute(packs()["us_health_denial"], facts, received_at=RECEIVED)
    assert [(one.clock, one.due_at) for one in computed] == [
        ("urgent", utc("2026-11-12", "10:00:00")),
        ("pre_service", utc("2026-11-24")),
    ]
    law = a_pack(days=7, authority="rule").clocks[0].model_copy(update={"id": "law"})
    pack = a_pack(days=7)
    both = pack.model_copy(update={"clocks": (*pack.clocks, law)})
    assert [one.clock for one in compute(both, facts, received_at=RECEIVED)] == ["law", "clock"]


APPLICATION = {"received_at": "2026-10-20T08:00:00Z", "completed_at": "2026-10-30T08:00:00Z"}
CAME_IN = {"received_at": "2026-10-20T08:00:00Z"}
DECIDED = "2026-11-09T08:00:00Z"
NO_TIME = "The record does not say when"


@each_case(
    ("trigger", "fields", "day", "happened", "remark"),
    [
        ("decision_date", {"decided_at": DECIDED}, "2026-11-09", "the decision was made", ""),
        ("decision_date", {}, "2026-11-20", "the service received the record", "earlier"),
        (
            "application_completed",
            {"events": {"application": APPLICATION}},
            "2026-10-30",
            "the application was complete",
            "",
        ),
        (
            "application_completed",
            {"events": [{"name": "application", **APPLICATION}]},
            "2026-10-30",
            "the application was complete",
            "",
        ),
        (
            "application_completed",
            {"decided_at": DECIDED, "events": {"application": CAME_IN}},
            "2026-10-20",
            "the application came in",
            "later",
        ),
        ("application_completed", {"decided_at": DECIDED}, "2026-11-09", "the decision was made", "earlier"),
        ("application_completed", {}, "2026-11-20", "the service received the record", "earlier"),
        ("request_received", {"events": {"claim": CAME_IN}}, "2026-10-20", "the request came in", ""),
        ("request_received", {"events": {"application": CAME_IN}}, "2026-10-20", "the request came in", ""),
        (
            "request_received",
            {"events": {"application": CAME_IN, "request": {"received_at": "2026-11-02T08:00:00Z"}}},
            "2026-11-02",
            "the request came in",
            "",
        ),
        ("request_received", {"decided_at": DECIDED}, "2026-11-09", "the decision was made", "earlier"),
        ("counteroffer_made", {"decided_at": DECIDED}, "2026-11-09", "the decision was made", "earlier"),
        (
            "access_requested",
            {"decided_at": DECIDED, "events": {"access_request": CAME_IN}},
            "2026-10-20",
            "the person asked for access",
            "",
        ),
        ("request_received", {}, "2026-11-20", "the service received the record", "earlier"),
    ],
)
def test_the_nearest_known_time_replaces_an_unknown_one(
    trigger: Any, fields: dict[str, Any], day: str, happened: str, remark: str
):
    [deadline] = compute(a_pack(trigger=trigger, days=1), record(**fields), received_at=RECEIVED)
    assert deadline.triggered_at.date() == date.fromisoformat(day)
    assert f", when {happened}: until" in deadline.arithmetic
    assert deadline.assumed is bool(remark)
    assert (NO_TIME in deadline.arithmetic) is bool(remark)
    assert deadline.arithmetic.endswith(f"may be {remark}." if remark else "(UTC).")


@pytest.mark.parametrize("decided_at", ["9999-12-31T23:59:59-14:00", "9999-12-31", "2026-11-20T09:00:01Z"])
def test_a_decision_after_the_receipt_of_its_record_is_impossible_and_postpones_nothing(decided_at: str):
    [deadline] = compute(a_pack(days=30), record(decided_at=decided_at), received_at=RECEIVED)
    assert deadline.assumed
    assert deadline.triggered_at == RECEIVED


@each_case(
    ("text", "read"),
    [
        ("2026-11-09T11:30:12-06:00", "2026-11-09T11:30:12-06:00"),
        ("2026-11-09 11:30:12.5Z", "2026-11-09T11:30:12.500000+00:00"),
        ("2026-11-09T11:30:12", "2026-11-09T11:30:12+00:00"),
        ("2026-11-09", "2026-11-09T00:00:00+00:00"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00+00:00"),
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59-14:00", None),
        ("2026-02-30T00:00:00Z", None),
        ("2026-11-09T25:00:00Z", None),
        ("yesterday", None),
        ("", None),
        (1794222612, None),
        (True, None),
        (None, None),
        (["2026-11-09"], None),
    ],
)
def test_times_are_parsed_in_the_formats_of_records(text: Any, read: str | None):
    moment = parse_moment(text)
    assert (moment.isoformat() if moment else None) == read


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
    | st.datetimes().map(datetime.isoformat)
    | st.datetimes(timezones=st.timezones()).map(datetime.isoformat)
    | st.dates().map(date.isoformat),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "received_at", "completed_at", "application", "request"]), inner)
    ),
    max_leaves=6,
)
SHIPPED = [(name, clock.id) for name, pack in packs().items() for clock in pack.clocks if clock.what == "notice"]


@given(st.sampled_from(SHIPPED), JSON, JSON, st.datetimes(datetime(2020, 1, 1), datetime(2200, 1, 1)))
def test_whatever_a_record_holds_a_running_clock_has_a_deadline(
    clock: tuple[str, str], decided: Any, events: Any, received: datetime
):
    received_at = received.replace(tzinfo=UTC)
    pack = packs()[clock[0]].model_copy(update={"clocks": (packs()[clock[0]].clock(clock[1]),)})
    facts = record(decided_at=decided, events=events)
    computed = compute(pack, facts, received_at=received_at)
    is_running = pack.clocks[0].applies_to(facts.get) and pack.in_effect(decided_on(facts, received_at))
    assert len(computed) == is_running
    for deadline in computed:
        assert deadline.triggered_at <= min(received_at, deadline.due_at)


def test_the_calculation_names_the_holidays_it_skips():
    pack = in_force("us_ca_admt")
    deadline = clock_deadline(
        pack, "ten_business_days", record(), received_at=RECEIVED, requested_at=datetime.combine(ASKED, time(), UTC)
    )
    assert deadline
    assert deadline.arithmetic == (
        "10 business days after November 13, 2026, when the person asked, without weekends and the public holidays of "
        "US: until the end of November 30, 2026 (UTC)."
    )


def test_the_manual_names_every_path_in_its_order():
    manual = section("docs/adding-a-pack.md", "Clocks")
    for trigger, occurrences in OCCURRENCES.items():
        [row] = [line for line in manual.splitlines() if line.startswith(f"| `{trigger}` | `")]
        paths = [path for occurrence in occurrences for path in occurrence.paths]
        assert re.findall(r"`([^`]+)`", row) == [trigger, *paths]
