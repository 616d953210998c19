"""`GET /v1/decisions`: newest first, each row once, filtered, and with as many queries for 50 rows as for one."""

import base64
import json
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def ids(page):
    return [item["decision_id"] for item in page["items"]]


def listed(api, **query):
    response = api.get("/v1/decisions", **query)
    assert response.status_code == 200, response.content
    return response.json()


def all_pages(api, between_pages=lambda: None, **query):
    """Return the ids of each page, following the cursors."""
    pages, cursor = [], ""
    while cursor is not None:
        page = listed(api, cursor=cursor, **query)
        pages.append(ids(page))
        cursor = page["next_cursor"]
        between_pages()
    return pages


def all_ids(*arguments, **query):
    return [decision_id for page in all_pages(*arguments, **query) for decision_id in page]


def ingest_at(api, moment, **record):
    with time_machine.travel(moment, tick=False):
        assert api.ingest(record).status_code == 201


@pytest.fixture
def twelve(api):
    """Ingest twelve decisions, three at each of four moments."""
    for number in range(12):
        ingest_at(api, NOON + timedelta(seconds=number // 3), decision_id=f"loan-{number:02}")


@pytest.mark.once
def test_an_empty_list_is_a_page_without_items_and_without_a_next(api):
    assert listed(api) == {"items": [], "next_cursor": None}


def test_the_pages_have_each_row_once_newest_first(api, twelve, subtests):
    for limit in (1, 2, 3, 4, 5, 11, 12, 13, 200):
        with subtests.test(limit=limit):
            pages = all_pages(api, limit=limit)
            listed_ids = [decision_id for page in pages for decision_id in page]
            assert sorted(listed_ids) == [f"loan-{number:02}" for number in range(12)]
            moments = [int(decision_id[-2:]) // 3 for decision_id in listed_ids]
            assert moments == sorted(moments, reverse=True)
            assert all(len(page) == limit for page in pages[:-1])
            assert pages[-1]


def test_rows_of_one_moment_have_the_same_order_in_every_page_size(api):
    for number in range(10):
        ingest_at(api, NOON, decision_id=f"loan-{number}")
    orders = {tuple(all_ids(api, limit=limit)) for limit in (1, 3, 7, 10)}
    assert len(orders) == 1
    assert len(orders.pop()) == 10


def test_rows_that_arrive_between_pages_do_not_repeat_or_hide_others(api, twelve):
    later = iter(range(100))

    def arrive():
        number = next(later)
        ingest_at(api, NOON + timedelta(minutes=1), decision_id=f"new-{number}")

    listed_ids = all_ids(api, arrive, limit=2)
    assert sorted(listed_ids) == [f"loan-{number:02}" for number in range(12)]
    assert len(ids(listed(api, limit=200))) > 12


@pytest.mark.once
def test_a_page_has_50_items_by_default(api):
    for number in range(51):
        api.ingest({"decision_id": f"loan-{number}"})
    assert len(ids(listed(api))) == 50
    assert len(all_ids(api)) == 51


@pytest.fixture
def varied(api):
    """Ingest four decisions that differ in every field a list can filter."""
    ingest_at(
        api,
        NOON,
        decision_id="a",
        decided_at="2026-01-01T00:00:00Z",
        outcome={"action": "denied"},
        system={"name": "x"},
    )
    ingest_at(
        api,
        NOON + timedelta(hours=1),
        decision_id="b",
        decided_at="2026-01-02T01:00:00+01:00",
        outcome={"action": "granted"},
        system={"name": "x"},
    )
    ingest_at(api, NOON + timedelta(hours=2), decision_id="c", outcome={"action": "denied"}, system={"name": "y"})
    with time_machine.travel(NOON + timedelta(hours=3), tick=False):
        batch = api.post("/v1/ingest/srf/batch", b'{"decision_id": "d"}', "application/x-ndjson")
        assert b"created" in batch.getvalue()


FILTERS = [
    ({}, "dcba"),
    ({"action": "denied"}, "ca"),
    ({"action": "Denied"}, ""),
    ({"action": "den"}, ""),
    ({"system": "x"}, "ba"),
    ({"kind": "decision"}, "dcba"),
    ({"kind": "reconsideration"}, ""),
    ({"source": "api"}, "cba"),
    ({"source": "batch"}, "d"),
    ({"received_from": "2026-03-01T13:00:00Z"}, "dcb"),
    ({"received_to": "2026-03-01T13:00:00Z"}, "a"),
    ({"received_from": "2026-03-01T14:00:00+01:00", "received_to": "2026-03-01T14:00:01Z"}, "cb"),
    ({"decided_from": "2026-01-02T00:00:00Z"}, "b"),
    ({"decided_to": "2026-01-02T00:00:00Z"}, "a"),
    ({"decided_from": "2026-01-01T00:00:00Z", "decided_to": "2026-01-02T00:00:00.000001Z"}, "ba"),
    ({"action": "denied", "system": "x"}, "a"),
    ({"action": "denied", "system": "x", "source": "batch"}, ""),
    ({"system": "' OR 1=1 --"}, ""),
]


def test_a_filter_gives_exactly_the_matching_rows(api, varied, subtests):
    for query, expected in FILTERS:
        with subtests.test(query=query):
            assert "".join(ids(listed(api, **query))) == expected
            assert "".join(all_ids(api, limit=1, **query)) == expected


def test_another_organizations_rows_are_in_no_list(api, other_api, varied):
    assert listed(other_api) == {"items": [], "next_cursor": None}
    other_api.ingest({"decision_id": "a"})
    assert ids(listed(other_api)) == ["a"]
    cursor = listed(api, limit=1)["next_cursor"]
    assert ids(listed(other_api, cursor=cursor)) in ([], ["a"])


def cursor_of(*content):
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")


KEY = "0" * 32


NO_CURSORS = [
    "x", "!!!", "é", "null", "\x00", "A" * 199, cursor_of(), cursor_of(1), cursor_of(1, 2), cursor_of(None, KEY),
    cursor_of("2026-03-01T12:00:00+00:00"), cursor_of("2026-03-01T12:00:00+00:00", None),
    cursor_of("2026-03-01T12:00:00+00:00", "loan-1"), cursor_of("2026-03-01T12:00:00+00:00", []),
    cursor_of("2026-03-01T12:00:00+00:00", -1), cursor_of("2026-03-01T12:00:00", KEY), cursor_of("noon", KEY),
    cursor_of("0001-01-01T00:00:00+14:00", KEY), cursor_of("9999-12-31T23:59:59-14:00", KEY),
    cursor_of("2026-03-01T12:00:00+00:00", KEY, KEY),
]  # fmt: skip


@pytest.mark.once
def test_a_foreign_cursor_is_a_422(api, varied, subtests):
    for cursor in NO_CURSORS:
        with subtests.test(cursor=cursor):
            assert_refused(api, "cursor", cursor=cursor)


def assert_refused(api, name, **query):
    response = api.get("/v1/decisions", **query)
    assert response.status_code == 422, response.content
    (problem,) = response.json()["detail"]
    assert problem["loc"] == ["query", name]
    return problem["type"]


BAD = [
    ({"limit": "0"}, "greater_than_equal"),
    ({"limit": "-1"}, "greater_than_equal"),
    ({"limit": "201"}, "less_than_equal"),
    ({"limit": "ten"}, "int_parsing"),
    ({"limit": "1.5"}, "int_parsing"),
    ({"limit": ""}, "int_parsing"),
    ({"cursor": "A" * 201}, "string_too_long"),
    ({"action": "x" * 257}, "string_too_long"),
    ({"system": "a\x00b"}, "string_pattern_mismatch"),
    ({"received_from": "yesterday"}, "datetime_from_date_parsing"),
    ({"received_to": "2026-03-01T12:00:00"}, "timezone_aware"),
    ({"decided_from": "2026-02-30T12:00:00Z"}, "datetime_from_date_parsing"),
    ({"decided_to": ""}, "datetime_from_date_parsing"),
    ({"offset": "10"}, "extra_forbidden"),
    ({"Action": "denied"}, "extra_forbidden"),
]


@pytest.mark.once
def test_a_bad_parameter_has_pydantics_error_type(api, subtests):
    for query, problem_type in BAD:
        with subtests.test(query=query):
            (name,) = query
            kind = assert_refused(api, name, **query)
            assert kind == problem_type or kind.startswith("datetime") == problem_type.startswith("datetime") is True


def test_a_filter_at_the_ends_of_time_causes_no_fault(api, varied, subtests):
    for name in ("received_from", "received_to", "decided_from", "decided_to"):
        for moment in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"):
            with subtests.test(name=name, moment=moment):
                assert api.get("/v1/decisions", **{name: moment}).status_code in (200, 422)


@pytest.mark.once
def test_a_list_takes_as_many_queries_for_50_rows_as_for_one(api, django_assert_max_num_queries):
    """One for the caller's key, one for the rows."""

    def queries_for(rows):
        for number in range(rows):
            api.ingest({"decision_id": f"loan-{number}", "outcome": {"action": "denied"}})
        counts = []
        for query in ({}, {"action": "denied"}, {"limit": 200}):
            with django_assert_max_num_queries(2) as captured:
                assert len(listed(api, **query)["items"]) == rows
            counts.append(len(captured))
        return counts

    assert queries_for(1) == queries_for(50)
