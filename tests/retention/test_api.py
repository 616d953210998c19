"""PUT and GET /v1/retention, disposals, and the retention of one decision."""

from datetime import timedelta

import pytest
from django.utils import timezone

from custody.models import Disposal, Entry
from notices.packs import packs
from retention import services
from retention.models import Policy
from tests.retention.conftest import NOW, decided, hold_on, put

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("days", "kind", "ctx"),
    [
        ("30", "int_type", None), (0, "greater_than_equal", {"ge": 1}), (-1, "greater_than_equal", {"ge": 1}),
        (36_501, "less_than_equal", {"le": 36_500}), (True, "int_type", None), (1.5, "int_type", None),
        (None, "int_type", None), ([], "int_type", None), (10**30, "less_than_equal", {"le": 36_500}),
    ],
)  # fmt: skip
def test_days_are_a_whole_number_from_1_to_36500(api, days, kind, ctx):
    answer = put(api, days=days)
    assert answer.status_code == 422
    (problem,) = answer.json()["detail"]
    assert (problem["loc"], problem["type"]) == (["body", "days"], kind)
    assert problem.get("ctx") == ctx
    assert not Policy.objects.exists()


@pytest.mark.parametrize("days", [1, 36_500, 30.0])
def test_days_at_the_bounds_and_integers_spelled_as_floats_are_accepted(api, days):
    answer = put(api, days=days)
    assert (answer.status_code, answer.json()["days"]) == (200, days)


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, "days"), ({"days": 30, "note": 5}, "note"), ({"days": 30, "note": "x" * 1001}, "note"),
        ({"days": 30, "share_percent": 0}, "share_percent"), ({"days": 30, "share_percent": 101}, "share_percent"),
        ({"days": 30, "dry_run": "yes"}, "dry_run"),
    ],
)  # fmt: skip
def test_the_other_fields_of_the_body_are_checked_too(api, body, where):
    answer = put(api, **body)
    assert answer.status_code == 422
    assert [problem["loc"] for problem in answer.json()["detail"]] == [["body", where]]
    assert not Policy.objects.exists()


def test_without_a_policy_there_is_none_and_the_floors_are_named(api):
    shown = api.get("/v1/retention").json()
    assert (shown["days"], shown["current"], shown["history"]) == (None, None, [])
    assert shown["daily"] == {"days": None, "policy": None}
    assert [(item["pack"], item["days"], item["lengthens"]) for item in shown["floors"]] == [
        ("us_co_admt", 1096, False),
        ("us_ecoa_fcra", 762, False),
        ("eu_ai_act_86", 183, False),
    ]
    assert all(item["citation"] for item in shown["floors"])


def test_every_pack_that_sets_a_floor_is_named(api):
    named = {item["pack"] for item in api.get("/v1/retention").json()["floors"]}
    assert named == {name for name, pack in packs().items() if pack.retention_days}


def test_a_policy_is_shown_with_its_history_and_when_it_begins(api, clock):
    assert put(api, days=500, note="By our schedule.").status_code == 200
    services.send_announcements()
    clock.shift(timedelta(days=8))
    answer = put(api, days=100).json()
    assert answer["saved"] is True
    shown = api.get("/v1/retention").json()
    assert {name: answer[name] for name in shown} == shown
    assert [(item["number"], item["days"]) for item in shown["history"]] == [(2, 100), (1, 500)]
    assert (shown["days"], shown["note"], shown["current"]) == (100, "", shown["history"][0])
    assert shown["daily"] == {"days": 500, "policy": 1}
    assert (shown["current"]["announced_at"], shown["current"]["begins_at"]) == (None, None)
    assert [item["pack"] for item in shown["floors"] if item["lengthens"]] == [
        "us_co_admt",
        "us_ecoa_fcra",
        "eu_ai_act_86",
    ]
    services.send_announcements()
    assert api.get("/v1/retention").json()["current"]["begins_at"] == "2026-12-05T12:00:00.000000Z"


def test_an_identical_put_answers_the_current_version(api):
    first = put(api, days=30, note="x").json()["current"]
    assert put(api, days=30, note="x").json()["current"] == first
    assert Policy.objects.count() == 1


def test_a_dry_run_previews_and_saves_nothing(api):
    decided(api, "a", 40)
    hold_on(decided(api, "b", 40))
    answer = put(api, days=30, dry_run=True).json()
    assert (answer["saved"], answer["current"]) == (False, None)
    assert answer["preview"] == {
        "frees": 1, "due": 1, "held": 1, "kept_by_floor": [], "with_obstacle": 0, "at_least": False,
    }  # fmt: skip
    assert not Policy.objects.exists()


def test_shortening_disposes_of_nothing_in_the_request(api):
    decided(api, "a", 40)
    put(api, days=365)
    assert put(api, days=1).json()["preview"]["frees"] == 1
    assert api.get("/v1/decisions/a/record").status_code == 200


def test_the_answer_says_whether_there_is_a_journal(api, settings):
    assert api.get("/v1/retention").json()["journal"] is True
    settings.RETENTION_JOURNAL = ""
    assert api.get("/v1/retention").json()["journal"] is False


def test_holds_are_counted_with_the_families_they_cover(api):
    decision = decided(api, "a", 40)
    hold_on(decision), hold_on(decision)
    assert api.get("/v1/retention").json()["holds"] == {"in_force": 2, "families": 1}


# ── one decision ──


def test_a_decision_has_a_date_of_disposal_and_the_reasons_to_keep_it(api, clock):
    decision = decided(api, "a/b", 40)
    path = "/v1/decisions/a/b/retention"
    assert api.get(path).json()["state"] == "no_policy"
    assert api.get(path).json()["disposed_from"] is None
    put(api, days=30)
    assert api.get(path).json() == {
        "decision_id": "a/b", "state": "due", "policy": 1, "counts_from": "2026-10-11T12:00:00.000000Z",
        "disposed_from": "2026-11-10T12:00:00.000000Z", "floor": None, "holds": [], "obstacles": [],
    }  # fmt: skip
    hold_on(decision)
    assert {name: api.get(path).json()[name] for name in ("state", "holds")} == {"state": "hold", "holds": [1]}


def test_another_organizations_decision_has_no_retention(api, other_api):
    decided(other_api, "theirs", 40)
    assert api.get("/v1/decisions/theirs/retention").status_code == 404


# ── disposals ──


def disposal(api, name, **more):
    record = Entry.objects.get(pk=decided(api, name, 40).pk)
    row = Disposal.objects.create(
        record=record, root=record.pk, policy=3, statement=b"", signature=b"", key_id="k", disposed_at=timezone.now(),
        **more,
    )  # fmt: skip
    Entry.objects.filter(pk=record.pk).update(state=Entry.State.DISPOSED)
    return row


def test_disposals_are_listed_with_their_progress(api, other_api, clock):
    theirs, first = disposal(other_api, "theirs"), disposal(api, "a")
    clock.shift(timedelta(hours=1))
    ends = {"finished_at": NOW, "kept_until": NOW + timedelta(days=9), "recoverable_until": NOW + timedelta(days=7)}
    second = disposal(api, "b", **ends)
    page = api.get("/v1/retention/disposals", limit=1).json()
    assert [(item["record_id"], item["policy"]) for item in page["items"]] == [(str(second.pk), 3)]
    assert page["items"][0]["recoverable_until"] == "2026-11-27T12:00:00.000000Z"
    last = api.get("/v1/retention/disposals", cursor=page["next_cursor"]).json()
    assert [(item["record_id"], item["finished_at"]) for item in last["items"]] == [(str(first.pk), None)]
    assert str(theirs.pk) not in str(page) + str(last)
