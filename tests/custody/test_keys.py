"""An organization's keys are rows, wrapped under the master key, created once, and never replaced silently."""

import base64
import os

import pytest
from django.core.checks import run_checks
from django.db import connection, transaction

from accounts import audit, services
from config import db, wrapped_secrets
from config.wrapped_secrets import MasterKeyWrong
from custody.keys import keyrings
from custody.keys.keyrings import KeyMissing, keyring
from custody.models import Key
from decisions.models import Decision
from tests.support.forks import Service
from tests.support.unguarded import unguarded
from tests.system.live import wait_until
from tests.threads import at_once

PURPOSES = ["index", "signing", "wrapping"]


def an_organization(name="Example Bank"):
    return services.create_organization(name=name, owner_email="owner@bank.example", actor=audit.SYSTEM)


def used_again(organization):
    """Return the keys as a new process would load them."""
    keyrings.forget()
    return keyring(organization.id)


def identities(ring):
    return ring.signer.key_id, ring.wrapper.key_id, ring.index_key


def rows(organization):
    return {row.purpose: row for row in Key.objects.filter(organization=organization)}


@pytest.fixture
def used(organization):
    """Return an organization that has used its keys."""
    keyring(organization.id)
    return organization


def test_three_secrets_are_created_on_first_use(used):
    assert sorted(rows(used)) == PURPOSES
    assert len({bytes(row.unwrap()) for row in rows(used).values()}) == 3


@pytest.mark.once
def test_the_database_holds_no_plaintext_secret(used):
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM custody_key")
        stored = b"\n".join(
            bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()
            for row in cursor.fetchall()
            for value in row
        )
    for row in rows(used).values():
        secret = row.unwrap()
        for spelling in (secret, secret.hex().encode(), base64.b64encode(secret)):
            assert spelling not in stored


def test_a_later_process_loads_the_same_keys_and_writes_nothing(used):
    first, before = keyring(used.id), list(Key.objects.values())
    assert identities(used_again(used)) == identities(first)
    assert list(Key.objects.values()) == before


def test_two_organizations_share_no_key(used):
    other = services.create_organization(name="Other", owner_email="o@other.example", actor=audit.SYSTEM)
    assert not set(identities(keyring(used.id))) & set(identities(keyring(other.id)))


def test_concurrent_first_use_in_threads_gives_one_keyring(shared_database):
    organization = an_organization()
    loaded = at_once(12, lambda _: keyring(organization.id))
    assert len({identities(ring) for ring in loaded}) == 1
    assert Key.objects.count() == 3


@pytest.mark.boots
def test_concurrent_first_use_on_machines_gives_one_keyring(shared_database, tmp_path):
    """Each machine has its own DATA_DIR. They share the database and the master key."""
    organization = an_organization()
    program = (
        "import os, sys, uuid, django; django.setup()\n"
        "from custody.keys.keyrings import keyring\n"
        "print('ready', flush=True); os.read(0, 1)\n"
        "k = keyring(uuid.UUID(sys.argv[1]))\n"
        "print(k.signer.key_id, k.wrapper.key_id, k.index_key.hex())\n"
    )
    environment = os.environ | {
        "MASTER_KEY": base64.b64encode(os.urandom(32)).decode(),
        "DATABASE_URL": shared_database,
    }
    go, outputs = tmp_path / "go", [tmp_path / f"{machine}.txt" for machine in range(4)]
    os.mkfifo(go)
    held = os.open(go, os.O_RDWR)  # so that opening it does not block
    errors = tmp_path / "errors"
    machines = [
        Service("django", environment | {"DATA_DIR": str(tmp_path / output.stem)}, errors) for output in outputs
    ]
    processes = [
        machine.fork(program, [str(organization.id)], output, errors, go)
        for machine, output in zip(machines, outputs, strict=True)
    ]
    wait_until(lambda: all(output.exists() and output.read_text() for output in outputs), "all are ready")
    os.write(held, b"!" * len(processes))
    assert [process.wait() for process in processes] == [0] * len(processes)
    os.close(held)
    answers = {output.read_text() for output in outputs}
    assert len(answers) == 1
    assert answers.pop().startswith("ready\n")
    assert Key.objects.count() == 3


@pytest.mark.once
@pytest.mark.parametrize("purpose", PURPOSES)
def test_a_lost_row_is_named_and_its_key_is_not_created_again(used, purpose):
    with unguarded():
        rows(used)[purpose].delete()
    with pytest.raises(KeyMissing):
        used_again(used)
    assert purpose not in rows(used)


@pytest.mark.once
@pytest.mark.parametrize("purpose", PURPOSES)
def test_a_secret_moved_from_another_organization_s_row_is_refused(used, purpose):
    other = services.create_organization(name="Other", owner_email="o@other.example", actor=audit.SYSTEM)
    keyring(other.id)
    theirs = rows(other)[purpose]
    Key.objects.filter(pk=rows(used)[purpose].pk).update(wrapped=theirs.wrapped, wrapped_by=theirs.wrapped_by)
    with pytest.raises(MasterKeyWrong):
        used_again(used)


@pytest.mark.once
@pytest.mark.parametrize("purpose", PURPOSES)
def test_a_secret_that_does_not_match_its_row_is_refused(used, purpose):
    row = rows(used)[purpose]
    row.wrap(os.urandom(32))
    row.save()
    with pytest.raises(KeyMissing):
        used_again(used)


@pytest.mark.once
@pytest.mark.parametrize("wrapped", [b"", b"short", bytes(60)])
def test_a_row_without_a_wrapped_secret_is_refused(used, wrapped):
    Key.objects.filter(organization=used, purpose="wrapping").update(wrapped=wrapped)
    with pytest.raises(MasterKeyWrong):
        used_again(used)


@pytest.mark.once
def test_under_another_master_key_nothing_is_unwrapped_and_no_key_is_created(api, used, settings):
    other = services.create_organization(name="Other", owner_email="o@other.example", actor=audit.SYSTEM)
    settings.MASTER_KEYS = [os.urandom(32)]
    keyrings.forget()
    answer = api.ingest({"decision_id": "a"})
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "MASTER_KEY" in answer.json()["detail"]
    with pytest.raises(MasterKeyWrong):
        keyring(other.id)
    assert Key.objects.count() == 3


@pytest.mark.once
def test_a_key_that_cannot_be_unwrapped_makes_the_service_unready(used, settings):
    wrapped_secrets.probe()
    settings.MASTER_KEYS = [os.urandom(32)]
    with pytest.raises(MasterKeyWrong):
        wrapped_secrets.probe()


@pytest.mark.once
def test_without_its_keys_a_record_is_refused_and_the_answer_names_no_row(api):
    assert api.ingest({"decision_id": "a"}).status_code == 201
    with unguarded():
        Key.objects.filter(purpose="wrapping").delete()
    keyrings.forget()
    response = api.ingest({"decision_id": "b"})
    assert response.status_code == 503
    assert str(api.organization.id) not in response.content.decode()
    assert not Decision.objects.filter(decision_id="b").exists()


def test_keys_of_a_failed_transaction_are_not_remembered(organization_without_keys, monkeypatch):
    """A record sealed under them could never be opened again."""
    monkeypatch.setattr(db, "in_transaction", lambda: connection.in_atomic_block)
    with transaction.atomic():
        lost = keyring(organization_without_keys.id)
        transaction.set_rollback(True)
    assert identities(keyring(organization_without_keys.id)) != identities(lost)


@pytest.mark.once
def test_an_unknown_vault_is_named_by_the_system_check(settings):
    settings.CUSTODY_VAULT = "cellar"
    (problem,) = [problem for problem in run_checks() if problem.id == "custody.E002"]
    assert "'cellar'" in problem.msg
    assert "database" in problem.hint
