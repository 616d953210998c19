"""Events in a list are found by their name, as events in an object are by their keys."""

import json

from notices import checklist
from notices.record_paths import NAMES_OF_EVENTS, Facts
from tests.cases import each_case
from tests.notices.drafts import case, drafted, statement_texts
from tests.notices.test_reasons import Words


@each_case("key", NAMES_OF_EVENTS)
def test_what_a_pack_asks_of_an_event_is_found_in_a_list_of_events_by_its_name_or_type(key: str):
    plan = {"subject": {"plan_type": "individual"}, "outcome": {"action": "denied"}}
    event = {"received_at": "2026-11-18T12:00:00Z", "provider": "North Clinic", "service": "an MRI"}
    shapes = ({"request": event}, [{}, {key: "request", **event}])
    as_object, as_list = ({**plan, "events": events} for events in shapes)
    assert statuses(as_list) == statuses(as_object)
    facts = case(as_list).facts
    assert facts.get("events.request.received_at") == event["received_at"]
    assert facts.find("events.request.provider").path == "events.1.provider"
    assert [line.casefold() for line in statement_texts(drafted(as_list))] == [
        line.casefold() for line in statement_texts(drafted(as_object))
    ]


def statuses(record: dict) -> dict[str, str]:
    content = drafted(record, "us_health_denial")
    return {element.id: element.result for element in checklist.check(case(record, "us_health_denial"), Words(content))}


def test_a_type_names_events_alone_and_a_name_goes_before_it():
    events = [{"name": "check", "type": "hard", "score": 5}, {"type": "check", "score": 6}, {"type": 7}]
    facts = Facts(json.dumps({"events": events, "outcome": {"list": [{"type": "a", "b": 1}]}}).encode())
    assert facts.get("events.check.score") == 5
    assert facts.get("events.hard.score") is None
    assert facts.get("outcome.list.a.b") is None
