"""Dry runs of an ingest: they tell its result and store nothing."""

import json
from typing import Any

import pytest

from accounts.roles import Role
from custody.models import Key
from decisions import misspellings, records, samples
from decisions.models import Decision
from decisions.record_warnings import MAX_WARNINGS
from tests.disposals import dispose_of
from tests.support.everything_kept import snapshot

pytestmark = pytest.mark.django_db

COMPLETE = {
    "decision_id": "loan-1",
    "decided_at": "2026-11-02T10:00:00Z",
    "subject": {"reference": "application 4711"},
    "system": {"name": "Scorecard", "version": "3.2"},
    "outcome": {"action": "denied", "reasons": ["The income is too low for payments of 46 %."]},
}
MARK = "canary-3Zk8"


def dry_run(api: Any, record: Any = COMPLETE, query: str = "dry_run=true") -> Any:
    raw = record if isinstance(record, bytes) else json.dumps(record).encode()
    return api.post(f"/v1/ingest/srf?{query}", raw)


def result(api: Any, record: Any = COMPLETE) -> dict[str, Any]:
    answer = dry_run(api, record)
    assert answer.status_code == 200, answer.content
    return answer.json()


def warnings(api: Any, kind: str, **changes: Any) -> dict[str, str]:
    """Return the sentences of one kind of warning about a record, by path."""
    rows = result(api, {**COMPLETE, **changes})["warnings"]
    return {row["where"]: row["sentence"] for row in rows if row["kind"] == kind}


# ── nothing is stored ──


def test_a_dry_run_stores_nothing_makes_no_key_and_logs_nothing(api_without_keys, capfd):
    api = api_without_keys
    result(api)
    before = snapshot()
    answer = result(api, {**COMPLETE, "decidedAt": MARK, "outcome": {"action": MARK, "reasons": [MARK]}})
    assert answer["would_be"] == "created"
    assert answer["warnings"]
    assert snapshot() == before
    assert not Key.objects.for_organization(api.organization).exists()
    assert MARK not in "".join(capfd.readouterr()) + json.dumps(answer)


@pytest.mark.parametrize("content", ["denied", "approved"])
def test_a_dry_run_of_a_stored_record_changes_nothing(api, each_vault, content):
    assert api.ingest(COMPLETE).status_code == 201
    before = snapshot()
    result(api, {**COMPLETE, "outcome": {"action": content}})
    assert snapshot() == before


# ── the result ──


def test_a_dry_run_distinguishes_a_new_record_a_replay_and_a_conflict(api, each_vault):
    assert result(api)["would_be"] == "created"
    assert api.ingest(COMPLETE).status_code == 201
    assert result(api)["would_be"] == "replayed"
    assert result(api, json.dumps(COMPLETE, indent=3).encode())["would_be"] == "replayed"
    assert result(api, {**COMPLETE, "amount": 1})["would_be"] == "conflict"
    assert result(api)["dry_run"] is True
    assert Decision.objects.count() == 1


def test_another_organization_s_record_is_no_conflict(api, other_api):
    assert other_api.ingest(COMPLETE).status_code == 201
    assert result(api, {**COMPLETE, "amount": 1})["would_be"] == "created"


def test_the_id_of_a_disposed_record_cannot_be_used_again(api, organization):
    assert api.ingest(COMPLETE).status_code == 201
    dispose_of(organization, "loan-1")
    assert result(api)["would_be"] == "disposed"


def test_a_dry_run_fails_while_the_stored_record_cannot_be_read(api, filesystem_vault):
    assert api.ingest(COMPLETE).status_code == 201
    for path in filesystem_vault.rglob("*"):
        if path.is_file():
            path.unlink()
    assert dry_run(api).status_code == 503


@pytest.mark.once
def test_a_dry_run_refuses_a_record_like_an_ingest(api):
    for raw in (b"", b"no JSON", b"[]", b"{}", b'{"decision_id": 5}', b'{"decision_id": "a", "decision_id": "a"}'):
        dry, real = dry_run(api, raw), api.ingest(raw)
        assert (dry.status_code, dry.content) == (real.status_code, real.content), raw
    assert dry_run(api, b'{"x": "%s"}' % (b"x" * 2**20)).status_code == 413
    assert not Decision.objects.exists()


@pytest.mark.once
def test_a_refusal_names_a_misspelt_decision_id(api):
    (problem,) = dry_run(api, {"descision_id": MARK}).json()["detail"]
    assert (problem["loc"], problem["type"]) == (["body", "decision_id"], "missing")
    assert "descision_id" in problem["msg"]
    assert MARK not in json.dumps(problem)


@pytest.mark.once
def test_a_dry_run_requires_the_permission_to_ingest(organization, api_for):
    assert dry_run(api_for(organization, Role.SENDER)).status_code == 200
    assert dry_run(api_for(organization, Role.AUDITOR)).status_code == 403


@pytest.mark.once
def test_a_value_other_than_true_or_false_is_refused_and_stores_nothing(api, subtests):
    for value in ("1", "yes", "True", "", "0", "tru", "null"):
        with subtests.test(value=value):
            answer = dry_run(api, query=f"dry_run={value}")
            assert answer.status_code == 422
            assert answer.json()["detail"][0]["loc"] == ["query", "dry_run"]
            assert not Decision.objects.exists()


OTHER_NAMES = [
    "dryrun",
    "dryRun",
    "dry-run",
    "DRY_RUN",
    "dry_rum",
    "dr_yrun",
    "dry",
    "is_dry_run",
    "mode",
    "run",
    "validate_only",
]


@pytest.mark.once
def test_any_other_parameter_is_refused_and_stores_nothing(api, subtests):
    for name in OTHER_NAMES:
        with subtests.test(name=name):
            answer = dry_run(api, query=f"{name}=true")
            assert answer.status_code == 422
            (problem,) = answer.json()["detail"]
            assert (problem["loc"], problem["type"]) == (["query", name], "extra_forbidden")
            assert "there is dry_run" in problem["msg"]
            assert not Decision.objects.exists()


UNCLEAR = [
    "dry_run=true&dry_run=false", "dry_run=false&dry_run=false", "dry_run=true;dry_run=false", "dry_run=true;x=1",
    "x=1;dry_run=true", "x=1;dry_run=true&dry_run=false", "x=1?dry_run=true", "x=1%26dry_run=true", "x=1,dry_run=true",
    "x;dry_run", "dry_run", "dry_run=maybe", "dry_run%20=true", "x=1;dry-run=true", "dry_run[]=true",
]  # fmt: skip
"""Ambiguous queries: they do not say whether to store the record."""


@pytest.mark.once
def test_an_ambiguous_query_is_refused_and_stores_nothing(api, subtests):
    for query in UNCLEAR:
        with subtests.test(query=query):
            answer = dry_run(api, query=query)
            assert answer.status_code == 422
            assert answer.json()["detail"][0]["loc"][0] == "query"
            assert "dr" in answer.json()["detail"][0]["loc"][1] + answer.json()["detail"][0]["msg"]
            assert not Decision.objects.exists()


@pytest.mark.once
def test_an_ambiguous_receipts_parameter_of_a_batch_is_refused(api, subtests):
    for query in ("receipts=true&receipts=false", "receipts=true;receipts=false", "receipts=maybe"):
        with subtests.test(query=query):
            answer = api.client.post(
                f"/v1/ingest/srf/batch?{query}", json.dumps(COMPLETE), content_type="application/x-ndjson"
            )
            assert answer.status_code == 422
            assert answer.json()["detail"][0]["loc"] == ["query", "receipts"]
            assert not Decision.objects.exists()


@pytest.mark.parametrize("query", ["dry_run=false", "", "&"])
def test_without_dry_run_the_record_is_stored(api, query):
    assert dry_run(api, query=query).status_code == 201


# ── warnings ──


@pytest.mark.once
def test_a_complete_record_has_no_warnings(api):
    assert result(api)["warnings"] == []


MISSPELT = [
    ({"descision_id": "x"}, "descision_id", "decision_id"),
    ({"decidedAt": "2026-11-02T10:00:00Z"}, "decidedAt", "decided_at"),
    ({"Outcome": {}}, "Outcome", "outcome"),
    ({"outcome": {"reason": "x"}}, "outcome.reason", "outcome.reasons"),
    ({"outcome": {"reasons": [{"tetx": "x"}]}}, "outcome.reasons.0.tetx", "outcome.reasons.text"),
    ({"outcome": {"solelyAutomated": True}}, "outcome.solelyAutomated", "outcome.solely_automated"),
    ({"outcome.action": "denied"}, '"outcome.action"', "outcome.action"),
    ({"subject": {"refrence": "x"}}, "subject.refrence", "subject.reference"),
    ({"events": {"application": {"recieved_at": "x"}}}, "events.application.recieved_at",
     "events.application.received_at"),
    ({"events": [{"name": "application", "receivedAt": "x"}]}, "events.0.receivedAt",
     "events.application.received_at"),
]  # fmt: skip


@pytest.mark.once
def test_a_misspelt_field_is_named_with_the_field_of_the_profile(api, subtests):
    for changes, where, meant in MISSPELT:
        with subtests.test(changes=changes, where=where, meant=meant):
            assert f"if you mean {meant}." in warnings(api, "misspelt", **changes)[where]


SPELLED = [
    {"decision": "x", "amount": 1, "event_log": [], "notes": "x"},
    {"outcome": {"action": "denied", "amount": 5, "retention": "x", "code": "x"}},
    {"events": {"scoring": {"name": "x", "score": 5}, "cheque": {}}},
    {"reasons": ["x"], "sub": {"decidedAt": "2026-11-02T10:00:00Z"}},
]


@pytest.mark.once
def test_other_fields_are_not_reported_as_misspellings(api, subtests):
    for changes in SPELLED:
        with subtests.test(changes=changes):
            assert warnings(api, "misspelt", **changes) == {}


NO_TIMES = [
    ("2026-11-02", "is a day without a time"),
    ("2026-11-02T10:00:00", "has no offset"),
    ("2026-11-02 10:00", "is not an RFC 3339 time"),
    ("02/11/2026", "is not an RFC 3339 time"),
    ("2026-02-30T10:00:00Z", "is not an RFC 3339 time"),
    ("2026-11-02T25:00:00Z", "is not an RFC 3339 time"),
    ("20261102T100000Z", "is not an RFC 3339 time"),
    ("November 2, 2026", "is not an RFC 3339 time"),
    (1793613600, "is a number"),
]


@pytest.mark.once
def test_a_time_that_breaks_rfc_3339_is_named_at_any_path(api, subtests):
    for value, says in NO_TIMES:
        with subtests.test(value=value, says=says):
            for where, changes in {
                "decided_at": {"decided_at": value},
                "approval.approved_at": {"approval": {"approved_at": value}},
                "events.0.createdAt": {"events": [{"name": "x", "createdAt": value}]},
            }.items():
                assert warnings(api, "time", **changes)[where].startswith(f"{where} {says}"), where


TIMES = ["2026-11-02T10:00:00Z", "2026-11-02T10:00:00.123456789+02:00", "2026-12-31t23:59:60z", None, True, {}]


@pytest.mark.once
def test_rfc_3339_times_and_other_values_cause_no_warning(api, subtests):
    for value in TIMES:
        with subtests.test(value=value):
            assert warnings(api, "time", events={"check": {"checked_at": value, "flat": "x", "stat": 7}}) == {}


@pytest.mark.once
def test_a_date_may_be_a_day(api, subtests):
    for value, is_named in (("2026-11-02", False), ("2.11.2026", True), (20261102, True)):
        with subtests.test(value=value, is_named=is_named):
            assert bool(warnings(api, "time", outcome={"effective_date": value, "action": "denied"})) is is_named


NOT_INDEXED = [
    ({"decided_at": None}, "decided_at", "is missing"),
    ({"decided_at": "2026-11-02"}, "decided_at", "is not a time with an offset"),
    ({"decided_at": 1793613600}, "decided_at", "is not a text"),
    ({"outcome": "denied"}, "outcome.action", "is missing"),
    ({"outcome": {"action": {"code": "denied"}}}, "outcome.action", "is not a text"),
    ({"system": {"name": "x" * 257}}, "system.name", "has more than 256 characters"),
    ({"subject": {"reference": ""}}, "subject.reference", "is empty"),
    ({"system": {"name": "x", "version": 3.2}}, "system.version", "is not a text"),
]


@pytest.mark.once
def test_an_empty_column_of_the_index_is_named_with_the_reason(api, subtests):
    for changes, where, says in NOT_INDEXED:
        with subtests.test(changes=changes, where=where, says=says):
            assert warnings(api, "not_indexed", **changes)[where].startswith(f"{where} {says}")


@pytest.mark.once
def test_a_record_that_the_default_pack_cannot_use_causes_a_warning(api):
    path, body = "/v1/notice-settings", {"default_pack": "us_ecoa_fcra"}
    assert api.client.put(path, body, content_type="application/json").status_code == 200
    sentence = warnings(api, "notice", outcome={"action": "denied"})[""]
    assert sentence.startswith("A notice under ECOA and FCRA could not be approved. ")


@pytest.mark.once
def test_a_record_too_large_for_a_notice_causes_a_warning(api):
    many = [f"Reason {number}" for number in range(20_001)]
    assert "A notice holds" in warnings(api, "notice", outcome={"action": "denied", "reasons": many})[""]


@pytest.mark.once
def test_the_samples_have_no_misspellings_and_no_ambiguous_times(api, subtests):
    for raw in samples.synthetic_records():
        with subtests.test(json.loads(raw)["decision_id"]):
            kinds = {warning["kind"] for warning in result(api, raw)["warnings"]}
            assert kinds <= {"notice", "not_indexed"}


@pytest.mark.once
def test_the_number_and_length_of_warnings_are_bounded(api):
    events = {f"{'k' * 5000}{number}": {"made_at": "yesterday"} for number in range(150)}
    rows = result(api, {**COMPLETE, "events": events})["warnings"]
    assert len(rows) == MAX_WARNINGS + 1
    assert rows[-1]["kind"] == "more"
    assert max(len(row["where"]) for row in rows) < 300


@pytest.mark.once
def test_the_number_of_compared_keys_is_bounded(api, monkeypatch):
    calls = []
    monkeypatch.setattr(misspellings, "is_misspelling", lambda key, name: calls.append(key))
    known = len(misspellings._known()["outcome"])
    for count in (1_000, 50_000):
        calls.clear()
        content = records.parse(
            json.dumps({"decision_id": "a", "outcome": dict.fromkeys(map(str, range(count)), 1)}).encode()
        )
        list(misspellings.find(content))
        assert len(calls) <= 1_000 * known


@pytest.mark.once
def test_an_ingest_does_not_look_for_warnings(api, monkeypatch):
    def never(*_: object, **__: object) -> None:
        raise AssertionError("a real ingest looks for warnings")

    monkeypatch.setattr("decisions.record_warnings.find", never)
    monkeypatch.setattr("decisions.api.ingest.IngestQuery.model_validate", never)
    assert api.ingest(COMPLETE).status_code == 201
