"""The API for connectors, inside and beyond the contract."""

import json

import pytest
from django.utils import timezone

from accounts.models import AuditEvent
from accounts.roles import Role
from connectors import services
from connectors.models import Connector
from tests.statements import statements

pytestmark = pytest.mark.django_db

GOOD = {"kind": "directory", "name": "Loans"}
LIMITS = [
    ({"kind": "ftp"}, "kind", "literal_error"),
    ({"kind": None}, "kind", "literal_error"),
    ({"name": ""}, "name", "string_too_short"),
    ({"name": "x" * 129}, "name", "string_too_long"),
    ({"name": 5}, "name", "string_type"),
    ({"config": []}, "config", "dict_type"),
    ({"secret_ref": 5}, "secret_ref", "string_type"),
    ({"secret_ref": "env:PATH"}, "secret_ref", "value_error"),
    ({"secret_ref": "file:../x"}, "secret_ref", "value_error"),
    ({"schedule_seconds": 29}, "schedule_seconds", "greater_than_equal"),
    ({"schedule_seconds": 86401}, "schedule_seconds", "less_than_equal"),
    ({"schedule_seconds": "300"}, "schedule_seconds", "int_type"),
    ({"schedule_seconds": True}, "schedule_seconds", "int_type"),
    ({"schedule_seconds": 30.5}, "schedule_seconds", "int_type"),
    ({"enabled": "yes"}, "enabled", "bool_type"),
    ({"enabled": 1}, "enabled", "bool_type"),
]


@pytest.fixture(autouse=True)
def _source(feed):
    feed.add({"decision_id": "loan-1"}, {"decision_id": "loan-2"}, {"decision_id": "loan-3"})


def create(api, **settings):
    answer = api.post("/v1/connectors", json.dumps({**GOOD, **settings}).encode())
    assert answer.status_code == 201, answer.content
    return answer.json()


def patch(api, source_id, **changes):
    return api.client.patch(f"/v1/connectors/{source_id}", json.dumps(changes), content_type="application/json")


def try_out(api, **settings):
    return api.post("/v1/connectors/test", json.dumps({**GOOD, **settings}).encode())


def steps(answer):
    assert answer.status_code == 200, answer.content
    return {step["name"]: step for step in answer.json()["steps"]}


def test_defaults_are_those_of_the_contract(api):
    made = create(api)
    assert {name: made[name] for name in ("schedule_seconds", "enabled", "config", "secret_ref", "problems")} == {
        "schedule_seconds": 300,
        "enabled": True,
        "config": {},
        "secret_ref": None,
        "problems": [],
    }
    assert made["last_run"] is None
    assert made["records"] == {"seen": 0, "new": 0, "repeated": 0, "quarantined": 0}
    assert made["cursor"] == {}
    assert made["next_poll_at"] <= timezone.now().isoformat()
    assert api.get(f"/v1/connectors/{made['source_id']}").json() == made


@pytest.mark.parametrize(("wrong", "field", "kind"), LIMITS)
def test_types_and_bounds_are_strict_to_create_and_to_test(api, wrong, field, kind):
    for path in ("/v1/connectors", "/v1/connectors/test"):
        answer = api.post(path, json.dumps({**GOOD, **wrong}).encode())
        assert answer.status_code == 422
        (problem,) = answer.json()["detail"]
        assert (problem["loc"], problem["type"]) == (["body", field], kind)
        assert ("input" in problem) == (
            field not in ("config", "secret_ref") and not isinstance(wrong[field], type(None))
        )
    assert not Connector.objects.exists()


@pytest.mark.parametrize(("wrong", "field", "kind"), [limit for limit in LIMITS if limit[1] != "kind"])
def test_types_and_bounds_are_strict_to_patch(api, wrong, field, kind):
    source_id = create(api)["source_id"]
    answer = patch(api, source_id, **wrong)
    assert answer.status_code == 422
    assert [(error["loc"], error["type"]) for error in answer.json()["detail"]] == [(["body", field], kind)]


@pytest.mark.parametrize("name", ["x", "x" * 128])
def test_bounds_include_their_ends(api, name):
    for seconds in (30, 86400, 30.0):
        assert create(api, name=name, schedule_seconds=seconds)["schedule_seconds"] == int(seconds)


def test_null_in_a_patch_means_unchanged_and_an_empty_reference_clears_it(api):
    made = create(api, secret_ref="file:feed", config={"feed": "main"})
    nothing = dict.fromkeys(("name", "config", "secret_ref", "schedule_seconds", "enabled"))
    assert patch(api, made["source_id"], **nothing).json() == made
    changed = patch(api, made["source_id"], secret_ref="", name="New", config={}).json()
    assert (changed["secret_ref"], changed["name"], changed["config"]) == (None, "New", {})


def test_a_patched_config_replaces_the_whole(api):
    made = create(api, config={"feed": "main", "needs_secret": False})
    assert patch(api, made["source_id"], config={"feed": "main"}).json()["config"] == {"feed": "main"}


def test_bad_settings_are_problems_and_never_a_422(api):
    made = create(api, config={"feed": 5, "colour": "red"})
    assert len(made["problems"]) == 2
    assert made["config"] == {"feed": 5, "colour": "red"}
    assert made["next_poll_at"] is None
    assert made["state"] == "not configured"
    refused = api.post(f"/v1/connectors/{made['source_id']}/poll", b"")
    assert refused.status_code == 409
    tested = try_out(api, config={"feed": 5})
    assert (tested.json()["ok"], steps(tested)["configuration"]["ok"]) == (False, False)


@pytest.mark.parametrize(
    "config",
    [
        {"password": "hunter2"},
        {"token1": "hunter2"},
        {"keys": "hunter2"},
        {"db_pass": "hunter2"},
        {"apiKey": "hunter2"},
        {"client-secret": "hunter2"},
        {"headers": {"Authorization": "Bearer hunter2"}},
        {"headers": {"X-Api-Key": "hunter2"}},
        {"parts": [{"access_token": "hunter2"}]},
        {"url": "https://user:hunter2@example.org/"},
        {"url": "https://example.org/?sig=hunter2"},
        {"url": "https://example.org/#access_token=hunter2"},
        {"urls": ["https://user:hunter2@example.org/"]},
        {"parts": [["https://example.org/?api_key=hunter2"]]},
        {"AccountKey": {"value": "hunter2"}},
        {"map": {"constants": {"token": "hunter2"}}},
    ],
)
def test_a_setting_that_looks_like_a_secret_is_a_problem_and_neither_stored_nor_echoed(api, config):
    made = create(api, config={**config, "feed": "main"})
    assert any("secret" in problem for problem in made["problems"])
    assert "hunter2" not in json.dumps(made)
    assert "hunter2" not in str(Connector.objects.values())
    assert made["config"]["feed"] == "main"
    changed = patch(api, made["source_id"], config=config)
    assert "hunter2" not in changed.content.decode() + try_out(api, config=config).content.decode()


def test_names_that_only_sound_like_secrets_are_kept(api):
    config = {
        "map": {"fields": {"decision_id": "/id", "token": "/token"}},
        "keyboard": "x",
        "headers": {"Authorization": "Bearer {secret}"},
    }
    made = create(api, config=config)
    assert made["config"] == config


def test_a_change_that_affects_reading_starts_a_new_version(api):
    source_id = create(api)["source_id"]

    def version():
        return Connector.objects.get(source_id=source_id).version

    assert version() == 1
    patch(api, source_id, name="New", schedule_seconds=60)
    assert version() == 1
    for number, changes in enumerate(
        [{"config": {"feed": "main"}}, {"secret_ref": "file:x"}, {"enabled": False}, {"reset_cursor": True}], start=2
    ):
        patch(api, source_id, **changes)
        assert version() == number


def test_a_disabled_connector_is_not_polled_until_it_is_enabled(api):
    source_id = create(api, enabled=False)["source_id"]
    assert services.poll_due() == 0
    assert api.post(f"/v1/connectors/{source_id}/poll", b"").status_code == 409
    assert patch(api, source_id, enabled=True).json()["next_poll_at"]
    assert services.poll_due() == 1


def test_a_shorter_schedule_counts_at_once(api):
    source_id = create(api, schedule_seconds=86400)["source_id"]
    services.poll_due()
    Connector.objects.update(next_poll_at=timezone.now() + timezone.timedelta(hours=20))
    patch(api, source_id, schedule_seconds=60)
    assert (Connector.objects.get().next_poll_at - timezone.now()).total_seconds() <= 60


def test_poll_now_makes_it_due(api):
    source_id = create(api)["source_id"]
    services.poll_due()
    answer = api.post(f"/v1/connectors/{source_id}/poll", b"")
    assert answer.status_code == 200
    assert services.due_count(10) == 1


def test_lists_runs_and_deletion(api):
    source_id = create(api)["source_id"]
    services.poll_due()
    (listed,) = api.get("/v1/connectors").json()["items"]
    assert listed["source_id"] == source_id
    (run,) = api.get(f"/v1/connectors/{source_id}/runs").json()["items"]
    assert run["records"]["new"] == 3
    assert api.client.delete(f"/v1/connectors/{source_id}").json() == {"source_id": source_id, "deleted": True}
    assert api.get(f"/v1/connectors/{source_id}").status_code == 404
    assert api.get("/v1/decisions/loan-1").status_code == 200


def test_the_quarantine_is_listed_retried_and_dismissed(api, feed):
    feed.items[1] = b"bad"
    source_id = create(api)["source_id"]
    services.poll_due()
    (item,) = api.get(f"/v1/connectors/{source_id}/quarantine").json()["items"]
    assert (item["position"], item["cause"]) == ("feed, item 2", "invalid")
    assert api.get(f"/v1/connectors/{source_id}").json()["in_quarantine"] == 1
    feed.items[1] = b'{"decision_id": "loan-2"}'
    assert api.post(f"/v1/connectors/{source_id}/quarantine/retry", b"{}").json()["items"] == 1
    services.poll_due()
    assert api.get("/v1/decisions/loan-2").status_code == 200
    for unknown in ([item["id"]], [], [0, -1, 2**63, 2**80]):
        none = api.post(f"/v1/connectors/{source_id}/quarantine/dismiss", json.dumps({"items": unknown}).encode())
        assert none.json()["items"] == 0


@pytest.mark.parametrize("source_id", ["unknown", "00000000-0000-0000-0000-000000000000", "another's"])
def test_another_organization_s_connector_is_a_404(api, other_api, source_id):
    if source_id == "another's":
        source_id = create(other_api)["source_id"]
    for method, path, body in (
        ("GET", "", b""),
        ("PATCH", "", b"{}"),
        ("DELETE", "", b""),
        ("POST", "/poll", b""),
        ("GET", "/runs", b""),
        ("GET", "/quarantine", b""),
        ("POST", "/quarantine/retry", b"{}"),
        ("POST", "/quarantine/dismiss", b"{}"),
    ):
        answer = api.client.generic(method, f"/v1/connectors/{source_id}{path}", body, content_type="application/json")
        assert answer.status_code == 404, (method, path)
        assert answer.json() == {"detail": "There is no connector of this source_id in your organization."}


@pytest.mark.parametrize("role", [Role.APPROVER, Role.EDITOR, Role.AUDITOR])
def test_only_owners_and_admins_manage_connectors(organization, api_for, role):
    theirs = api_for(organization, role)
    assert theirs.get("/v1/connectors").status_code == 403
    assert theirs.post("/v1/connectors", json.dumps(GOOD).encode()).status_code == 403
    assert try_out(theirs).status_code == 403
    assert create(api_for(organization, Role.ADMIN))["created_by"] == "key test"


def test_creating_again_with_the_same_key_makes_one_connector(api):
    for _ in range(2):
        answer = api.client.post(
            "/v1/connectors",
            json.dumps(GOOD),
            content_type="application/json",
            headers={"Idempotency-Key": "once"},
        )
        assert answer.status_code == 201
    assert Connector.objects.count() == 1


def test_every_change_is_in_the_audit_trail_without_settings(api):
    source_id = create(api, config={"feed": "main"}, secret_ref="file:feed")["source_id"]
    patch(api, source_id, reset_cursor=True)
    api.post(f"/v1/connectors/{source_id}/poll", b"")
    api.client.delete(f"/v1/connectors/{source_id}")
    events = AuditEvent.objects.filter(object_kind="connector").order_by("pk")
    assert [event.verb.removeprefix("connector.") for event in events] == [
        "created",
        "changed",
        "poll_requested",
        "deleted",
    ]
    assert "main" not in str(events.values())


def test_lists_take_as_many_queries_however_long_they_are(api):
    def queries():
        with statements() as seen:
            api.get("/v1/connectors")
        return len(seen)

    create(api)
    few = queries()
    for number in range(8):
        create(api, name=f"d{number}")
    assert len(api.get("/v1/connectors").json()["items"]) == 9
    assert queries() == few
