"""An organization chooses its storage: only storage that passes the custody test and has the marker takes records."""

import json

import pytest
from django.db import IntegrityError, transaction

from accounts.models import AuditEvent
from accounts.roles import Role
from config import changes
from custody import vaults
from custody.clouds import vault as cloud
from custody.models import Entry, Installation, Key, StorageTarget
from custody.vaults import storage_targets
from tests.threads import HANGS_SECONDS, at_once

pytestmark = [pytest.mark.django_db, pytest.mark.once]

OF_PROVIDER = {"aws": "of_amazon", "gcp": "of_google", "azure": "of_microsoft"}


@pytest.fixture
def account_of(request, trusted, monkeypatch):
    """A customer's account with a provider, correctly set up."""
    monkeypatch.setattr(cloud, "MARKED_SECONDS", 0.0)
    monkeypatch.setattr(cloud, "FAILING_SECONDS", 0.0)
    return lambda provider: request.getfixturevalue(OF_PROVIDER[provider])


@pytest.fixture
def account(account_of):
    return account_of("aws")


def put(api, provider, config=None):
    body = {"provider": provider, **({} if config is None else {"config": config})}
    return api.client.put("/v1/custody", json.dumps(body), content_type="application/json")


def targets():
    return list(StorageTarget.objects.exclude(organization=None).order_by("created_at"))


def target_of(api, decision_id):
    receipt = api.ingest({"decision_id": decision_id}).json()
    return Entry.objects.get(pk=receipt["record_id"]).target


@pytest.mark.parametrize("provider", OF_PROVIDER)
def test_storage_that_passes_the_test_takes_new_records_and_earlier_ones_stay(api, other_api, account_of, provider):
    account = account_of(provider)
    before = target_of(api, "loan-1")
    answer = put(api, provider, account.config)
    assert answer.status_code == 200, answer.content
    chosen = answer.json()
    assert (chosen["provider"], chosen["failing_since"]) == (provider, None)
    assert [check["status"] for check in chosen["checks"] if check["id"] in ("configuration", "marker")] == ["pass"] * 2
    assert target_of(api, "loan-2").pk == chosen["target_id"]
    assert target_of(other_api, "loan-1") == before
    assert [target["provider"] for target in chosen["earlier"]] == ["deployment"]
    for decision_id in ("loan-1", "loan-2"):
        assert api.get(f"/v1/decisions/{decision_id}/record").status_code == 200
    shown = api.get("/v1/custody").json()
    assert shown == {name: value for name, value in chosen.items() if name != "checks"}


def test_a_process_that_has_not_seen_a_choice_yet_reports_it_anyway(api, account, monkeypatch):
    storage_targets.current(api.organization.pk)
    monkeypatch.setattr(storage_targets, "forget", lambda: None)
    put(api, "aws", account.config)
    shown = api.get("/v1/custody").json()
    assert shown["provider"] == "aws"
    assert [target["provider"] for target in shown["earlier"]] == ["deployment"]


def test_only_settings_that_name_the_place_are_stored(api, account):
    put(api, "aws", {**account.config, "unknown": "canary", "prefix": ""})
    configuration = targets()[0].configuration
    assert {"kms_key", "signing_key", "kms_endpoint", "unknown", "prefix"}.isdisjoint(configuration)
    assert configuration["bucket"] == "records"


def keys_of(api):
    """Return the providers of the keys for new records, by purpose."""
    keys = Key.objects.for_organization(api.organization.pk).filter(retired_at=None)
    return dict(keys.values_list("purpose", "provider"))


@pytest.mark.parametrize("provider", OF_PROVIDER)
def test_named_keys_are_used_from_then_on(api, account_of, provider):
    account = account_of(provider)
    assert put(api, provider, account.config).status_code == 200
    assert keys_of(api) == {"signing": provider, "wrapping": provider, "index": "local"}
    assert api.ingest({"decision_id": "loan-1"}).status_code == 202
    rotations = AuditEvent.objects.filter(verb="custody_key.rotated").count()
    assert put(api, provider, account.config).status_code == 200
    assert AuditEvent.objects.filter(verb="custody_key.rotated").count() == rotations == 2
    put(api, "deployment")
    assert keys_of(api)["signing"] == provider, "keys are changed by naming others alone"


def test_the_deployment_s_storage_is_not_configured(api, account):
    put(api, "aws", account.config)
    before = targets()
    answer = put(api, "deployment", {"bucket": "records"})
    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["body"])
    assert "records" not in answer.content.decode()
    assert targets() == before


def test_a_configuration_without_keys_does_not_change_them(api, account):
    config = {name: value for name, value in account.config.items() if name not in ("kms_key", "signing_key")}
    assert put(api, "aws", config).status_code == 200
    assert set(keys_of(api).values()) == {"local"}
    assert api.ingest({"decision_id": "loan-1"}).status_code == 201


def test_a_key_that_cannot_be_used_changes_nothing(api, account_of):
    """Key Vault reveals whether a key is usable only when it is used."""
    account = account_of("azure")
    identity, secret = account.server.application("blobs", "arm", "get")
    account.use_secret(secret)
    target_of(api, "loan-1")
    before = keys_of(api)
    answer = put(api, "azure", {**account.config, "client_id": identity})
    assert [problem["ctx"]["id"] for problem in answer.json()["detail"]] == ["wrap", "unwrap", "sign"]
    assert (keys_of(api), targets()) == (before, [])


def test_storage_that_is_not_proven_is_not_used(api, account):
    """No check failed, but it is unknown whether the bucket's own key can be used."""
    account.answer_with(lambda request: "encryption" in request.target, b"", 403)
    answer = put(api, "aws", account.config)
    (problem,) = answer.json()["detail"]
    assert (answer.status_code, problem["type"]) == (422, "custody_not_proven")
    assert problem["ctx"] == {"not_proven": ["bucket_key_wrap", "bucket_key_unwrap"]}
    assert targets() == []


FAILING = [
    ({"bucket": "absent"}, "bucket"),
    ({"bucket": ""}, "configuration"),
    ({"secret_ref": "env:DRS_SECRET_NOBODY"}, "credentials"),
    ({"region": "eu-north-1"}, "bucket"),
]


def test_a_failed_test_names_each_check_and_changes_nothing(api, account, subtests):
    put(api, "aws", account.config)
    before, events, objects = targets(), AuditEvent.objects.count(), account.server.client("s3").list_objects_v2
    names = [listed["Key"] for listed in objects(Bucket="records")["Contents"]]
    for change, check in FAILING:
        with subtests.test(str(change)):
            answer = put(api, "aws", {**account.config, **change})
            assert answer.status_code == 422
            problems = answer.json()["detail"]
            assert check in {problem["ctx"]["id"] for problem in problems}, problems
            for problem in problems:
                assert (problem["type"], problem["loc"]) == ("custody_check_failed", ["body", "config"])
                assert problem["msg"].startswith(f"{problem['ctx']['id']}: ")
                assert problem["ctx"]["status"] == "fail"
                assert "input" not in problem
            assert targets() == before
            assert AuditEvent.objects.count() == events
            assert [listed["Key"] for listed in objects(Bucket="records")["Contents"]] == names
    assert target_of(api, "loan-1") == before[0]


def test_a_marker_that_cannot_be_put_is_a_failed_check(api, account):
    account.answer_with(lambda request: request.path.endswith("/MARKER"), b"", 403)
    answer = put(api, "aws", account.config)
    assert answer.status_code == 422
    (problem,) = answer.json()["detail"]
    assert (problem["ctx"]["id"], problem["ctx"]["permission"]) == ("marker", "s3:PutObject")
    assert "to read objects" in problem["ctx"]["fix"]
    assert targets() == []


def test_another_installation_s_place_is_refused(api, account):
    account.server.client("s3").put_object(Bucket="records", Key="MARKER", Body=b"another installation")
    answer = put(api, "aws", account.config)
    (problem,) = answer.json()["detail"]
    assert (answer.status_code, problem["ctx"]["id"]) == (422, "marker")
    assert "another prefix" in problem["ctx"]["fix"]
    assert put(api, "aws", {**account.config, "prefix": "ours"}).status_code == 200


def test_the_same_place_again_is_the_same_target_and_another_is_new(api, account):
    first = put(api, "aws", account.config).json()["target_id"]
    assert put(api, "aws", dict(reversed(account.config.items()))).json()["target_id"] == first
    second = put(api, "aws", {**account.config, "prefix": "other"}).json()
    assert second["target_id"] != first
    assert second["earlier"][0]["target_id"] == first
    third = put(api, "deployment").json()
    assert (third["provider"], third["config"], third["checks"]) == ("deployment", {}, [])
    assert put(api, "aws", account.config).json()["target_id"] == first
    assert len(targets()) == 2
    assert [target.configuration.get("prefix") for target in targets()] == [None, "other"]


def test_each_change_is_audited_once_without_secrets(api, account):
    for _ in range(2):
        put(api, "aws", account.config)
    put(api, "deployment")
    put(api, "deployment")
    events = AuditEvent.objects.filter(verb="storage.chosen").order_by("pk")
    target = targets()[0]
    assert [(event.object_id, event.detail) for event in events] == [
        (target.pk, {"provider": "aws", "before": "deployment"}),
        ("deployment", {"provider": "deployment", "before": target.pk}),
    ]


def test_every_member_may_view_but_only_owners_choose(organization, api_for, account, subtests):
    asked = len(account.server.front.requests)
    for role in set(Role) - {Role.OWNER, Role.SENDER}:
        with subtests.test(role.value):
            other = api_for(organization, role)
            assert other.get("/v1/custody").status_code == 200
            assert put(other, "aws", account.config).status_code == 403
            assert len(account.server.front.requests) == asked
            assert targets() == []


def test_another_process_s_choice_is_followed_once_the_mark_has_changed(api, account, monkeypatch):
    storage_targets.forget()
    monkeypatch.setattr(changes, "SECONDS", HANGS_SECONDS)
    changes.forget()
    target_of(api, "loan-1")
    known = dict(storage_targets._current._rows)
    put(api, "aws", account.config)
    storage_targets._current._rows.update(known)
    assert target_of(api, "loan-2").provider == "database"
    changes.ask()
    assert target_of(api, "loan-3") == targets()[0]


def test_a_bucket_belongs_to_one_organization(db):
    with pytest.raises(IntegrityError), transaction.atomic():
        StorageTarget.objects.create(provider="aws")


@pytest.mark.parametrize("body", [{"provider": "s3"}, {}, {"provider": "aws", "config": {"bucket": 5}}])
def test_another_provider_or_a_value_that_is_not_a_text_is_a_422_of_its_field(api, body):
    answer = api.client.put("/v1/custody", json.dumps(body), content_type="application/json")
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"][:2] in (["body", "provider"], ["body", "config"])
    assert "input" not in answer.json()["detail"][0] or body.get("provider") == "s3"


def test_concurrent_choices_leave_one_target_in_use(shared_database, organization, api_for, account):
    api = api_for(organization)
    put(api, "aws", account.config)

    def choose(number):
        place = {name: value for name, value in account.config.items() if "key" not in name and "kms" not in name}
        with transaction.atomic():
            storage_targets.lock()
            storage_targets.use_own(organization.pk, "aws", {**place, "prefix": str(number % 3)})

    at_once(6, choose)
    assert len([target for target in targets() if target.retired_at is None]) == 1
    assert len(targets()) == 4
    assert Installation.objects.count() == 1
    vaults.forget()
