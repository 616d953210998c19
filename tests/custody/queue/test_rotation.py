"""Rotation between local keys and a customer's keys, in every direction."""

from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from accounts import callers
from accounts.models import AuditEvent
from accounts.roles import Role
from config import changes, wrapped_secrets
from config.errors import NotAllowed
from custody import services
from custody.clouds import ConfigurationRefused
from custody.keys import keyrings, kms
from custody.keys.keyrings import Purpose, keyring
from custody.models import Entry, Key, WaitingObject
from custody.services import KeyNotProven, reconcile
from tests.support.unguarded import unguarded
from tests.threads import at_once

pytestmark = pytest.mark.django_db

BOTH = (Purpose.SIGNING, Purpose.WRAPPING)


def rotate(organization, purpose, provider="local", config=None):
    return services.rotate_key(
        caller=callers.system(organization.pk), purpose=purpose, provider=provider, config=config
    )


def assert_all_read(api, *decision_ids):
    for decision_id in decision_ids:
        for part in ("record", "receipt"):
            assert api.get(f"/v1/decisions/{decision_id}/{part}").status_code == 200, (decision_id, part)
        assert api.ingest({"decision_id": decision_id}).status_code == 200
        assert api.ingest({"decision_id": decision_id, "more": 1}).status_code == 409


@pytest.mark.once
@pytest.mark.parametrize("purpose", BOTH)
def test_records_of_every_earlier_key_open_and_verify_under_it(api, organization, customer, purpose, another_process):
    api.ingest({"decision_id": "local"})
    customer.holds(organization, purpose, name="one")
    api.ingest({"decision_id": "one"})
    reconcile()
    customer.holds(organization, purpose, name="two")
    api.ingest({"decision_id": "two"})
    reconcile()
    rotate(organization, purpose)
    assert api.ingest({"decision_id": "local-again"}).status_code == 201
    another_process()
    assert_all_read(api, "local", "one", "two", "local-again")
    providers = Key.objects.filter(purpose=purpose).order_by("pk").values_list("provider", flat=True)
    assert list(providers) == ["local", "gcp", "gcp", "local"]


@pytest.mark.once
def test_the_command_takes_a_provider_and_its_settings(api, organization, customer, capsys):
    config = customer.key(Purpose.SIGNING)
    arguments = [f"{name}={value}" for name, value in config.items()]
    call_command(
        "custody_rotate_key", "--organization", organization.slug, "--purpose", "signing", "--provider", "gcp",
        "--config", *arguments,
    )  # fmt: skip
    key = Key.objects.get(purpose="signing", retired_at=None)
    assert capsys.readouterr().out == f"signing key {key.key_id}\n"
    assert (key.provider, key.configuration, bytes(key.wrapped)) == ("gcp", config, b"")
    assert api.ingest({"decision_id": "a"}).status_code == 202
    call_command("custody_rotate_key", "--organization", organization.slug, "--purpose", "signing")
    assert api.ingest({"decision_id": "b"}).status_code == 201


@pytest.mark.once
def test_settings_without_a_provider_make_no_local_key(organization):
    keyrings.keyring(organization.pk)
    with pytest.raises(CommandError, match="--provider"):
        call_command(
            "custody_rotate_key", "--organization", organization.slug, "--purpose", "signing",
            "--config", "region=eu-central-1", "signing_key=alias/records",
        )  # fmt: skip
    assert Key.objects.filter(purpose="signing").count() == 1


@pytest.mark.once
@pytest.mark.parametrize("config", [["kms_key"], ["=x"]])
def test_the_command_refuses_an_argument_that_is_no_setting(organization, config):
    with pytest.raises(CommandError, match="NAME=VALUE"):
        call_command(
            "custody_rotate_key", "--organization", organization.slug, "--purpose", "wrapping", "--provider", "gcp",
            "--config", *config,
        )  # fmt: skip


@pytest.mark.once
@pytest.mark.parametrize("purpose", BOTH)
@pytest.mark.parametrize("spoil", ["disabled", "denied", "away"])
def test_an_unusable_key_is_refused(api, organization, customer, purpose, spoil):
    api.ingest({"decision_id": "before"})
    rows, config = list(Key.objects.values()), customer.key(purpose)
    if spoil == "disabled":
        for key in customer.kms.keys.values():
            key.set_state("DISABLED")
    elif spoil == "denied":
        customer.google.granted["custody@tests.iam.gserviceaccount.com"].clear()
    else:
        customer.status = 503
    with pytest.raises(KeyNotProven) as refused:
        rotate(organization, purpose, "gcp", config)
    assert "cloudkms." in refused.value.sentence
    assert "Nothing was changed" in refused.value.sentence
    assert ("Check that the key is enabled" in refused.value.sentence) == (spoil != "away")
    assert list(Key.objects.values()) == rows
    assert not AuditEvent.objects.filter(verb="custody_key.rotated").exists()
    assert api.ingest({"decision_id": "after"}).status_code == 201


@pytest.mark.once
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"kms_key": ""}, "kms_key"),
        ({"kms_key": "alias/x"}, "kms_key"),
        ({"secret_ref": ""}, "secret_ref"),
        ({"password": "x"}, "password"),
        ({"secret_ref": "hunter2"}, "secret_ref"),
    ],
)
def test_a_wrong_setting_is_named_and_nothing_is_called(organization, customer, changes, says):
    with pytest.raises(ConfigurationRefused) as refused:
        rotate(organization, Purpose.WRAPPING, "gcp", customer.key(Purpose.WRAPPING) | changes)
    assert says in refused.value.sentence or says in str(refused.value)
    assert "hunter2" not in str(refused.value)
    assert customer.calls == []


@pytest.mark.once
def test_settings_of_storage_are_not_stored_with_a_key(organization, customer):
    config = customer.key(Purpose.WRAPPING) | {"bucket": "records", "prefix": "a/", "endpoint": "https://localhost"}
    key = rotate(organization, Purpose.WRAPPING, "gcp", config)
    assert set(key.configuration) == {"kms_key", "secret_ref", "kms_endpoint"}


@pytest.mark.once
def test_the_audit_trail_has_the_provider_of_the_new_key(organization, customer):
    (key,) = customer.holds(organization, Purpose.WRAPPING)
    event = AuditEvent.objects.get(verb="custody_key.rotated")
    assert (event.object_id, event.detail["provider"]) == (key.key_id, "gcp")
    assert "secret" not in str(event.detail)


@pytest.mark.once
@pytest.mark.parametrize("role", [role for role in Role if role is not Role.OWNER])
def test_only_an_owner_may_rotate_to_a_customers_key(organization, customer, role):
    caller = replace(callers.system(organization.id), role=role)
    with pytest.raises(NotAllowed):
        services.rotate_key(caller=caller, purpose=Purpose.SIGNING, provider="gcp", config={})
    assert customer.calls == []


@pytest.mark.parametrize("purpose", BOTH)
def test_a_former_key_becomes_active_again(api, organization, customer, purpose):
    config = customer.key(purpose)
    first = rotate(organization, purpose, "gcp", config)
    api.ingest({"decision_id": "a"})
    reconcile()
    rotate(organization, purpose)
    again = rotate(organization, purpose, "gcp", config)
    assert (again.pk, again.key_id) == (first.pk, first.key_id)
    api.ingest({"decision_id": "b"})
    reconcile()
    assert_all_read(api, "a", "b")
    assert Key.objects.filter(purpose=purpose, retired_at=None).get().pk == first.pk


@pytest.mark.once
def test_other_credentials_for_the_same_key_take_effect_in_every_process(
    api, organization, customer, monkeypatch, another_process
):
    config = customer.key(Purpose.SIGNING)
    (key,) = [rotate(organization, Purpose.SIGNING, "gcp", config)]
    monkeypatch.setattr(changes, "SECONDS", 0)
    known = keyring(organization.id)
    monkeypatch.setenv("DRS_SECRET_OTHER", __import__("os").environ["DRS_SECRET_CUSTOMER"])
    remembered = dict(keyrings._known._rows)
    again = rotate(organization, Purpose.SIGNING, "gcp", config | {"secret_ref": "env:DRS_SECRET_OTHER"})
    assert again.pk == key.pk
    keyrings._known._rows.update(remembered)  # a process without news of the change
    assert keyring(organization.id) is not known
    monkeypatch.delenv("DRS_SECRET_CUSTOMER")
    another_process()
    api.ingest({"decision_id": "a"})
    assert reconcile() == (1, 0)


def test_a_running_process_follows_another_ones_rotations(api, organization, customer, monkeypatch):
    monkeypatch.setattr(changes, "SECONDS", 0)
    api.ingest({"decision_id": "a"})
    before = dict(keyrings._known._rows)
    customer.holds(organization, Purpose.SIGNING)
    keyrings._known._rows.update(before)
    assert api.ingest({"decision_id": "b"}).status_code == 202
    before = dict(keyrings._known._rows)
    rotate(organization, Purpose.SIGNING)
    keyrings._known._rows.update(before)
    assert api.ingest({"decision_id": "c"}).status_code == 201


def test_records_stored_while_keys_rotate_are_in_custody_once(shared_database, organization, customer, api_for):
    senders = [api_for(organization) for _ in range(3)]

    def work(number):
        if number == 3:
            for turn in range(3):
                for purpose in BOTH:
                    customer.holds(organization, purpose, name=f"{purpose}-{turn}")
                    rotate(organization, purpose)
            return []
        if number == 4:
            for _ in range(8):
                reconcile()
            return []
        return [senders[number].ingest({"decision_id": f"{number}-{i}"}).status_code for i in range(8)]

    statuses = [status for results in at_once(5, work) for status in results]
    assert set(statuses) <= {201, 202}
    reconcile()
    keyrings.forget()
    kms.forget()
    assert Entry.objects.filter(state="stored").count() == len(statuses) == 24
    assert not WaitingObject.objects.exists()
    for number in range(3):
        for i in range(8):
            assert senders[number].get(f"/v1/decisions/{number}-{i}/record").status_code == 200
            assert senders[number].get(f"/v1/decisions/{number}-{i}/receipt").status_code == 200


def test_parallel_rotations_to_one_key_leave_one_active_row(shared_database, organization, customer):
    keyring(organization.id)
    config = customer.key(Purpose.WRAPPING)
    at_once(4, lambda _: rotate(organization, Purpose.WRAPPING, "gcp", config))
    assert Key.objects.filter(purpose="wrapping", provider="gcp").count() == 1
    assert Key.objects.filter(purpose="wrapping", retired_at=None).get().provider == "gcp"


# ── the rows ──


@pytest.mark.once
def test_a_key_in_a_key_service_has_no_secret_here_and_needs_no_master_key(organization, customer, capsys):
    customer.holds(organization, *BOTH)
    wrapped_secrets.probe()
    call_command("keys_import")
    assert "missing" not in capsys.readouterr().out
    with unguarded():
        Key.objects.exclude(purpose="index").filter(provider="local").delete()
    assert keyring(organization.id).is_queueing


@pytest.mark.parametrize("columns", [{"purpose": "index"}, {"wrapped_by": "x"}])
def test_the_database_refuses_foreign_secrets_and_foreign_index_keys(organization, columns):
    row = {"organization": organization, "purpose": "signing", "provider": "aws", "key_id": "a", **columns}
    with pytest.raises(IntegrityError), transaction.atomic():
        Key.objects.create(**row)
