"""A new key is for new records. Records under an earlier key are opened and verified with that key."""

import base64
import json
from dataclasses import replace

import pytest
from django.core.management import CommandError, call_command

from accounts import callers
from accounts.models import AuditEvent
from accounts.roles import Role
from config import changes
from config.errors import NotAllowed
from config.wrapped_secrets import MasterKeyWrong
from custody import services
from custody.keys import keyrings
from custody.keys.keyrings import Purpose, keyring
from custody.models import Entry, Key
from custody.services import NeverRotated
from tests.custody.test_keys import an_organization
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def rotate(organization, purpose):
    call_command("custody_rotate_key", "--organization", organization.slug, "--purpose", purpose)


def wrapping_key(receipt):
    return json.loads(base64.b64decode(receipt["envelope"]["payload"]))["predicate"]["kekId"]


@pytest.mark.once
@pytest.mark.parametrize("purpose", ["signing", "wrapping"])
def test_new_records_use_the_new_key_and_old_ones_stay_readable(api, purpose):
    before = api.ingest({"decision_id": "old"}).json()
    rotate(api.organization, purpose)
    after = api.ingest({"decision_id": "new"}).json()
    assert (before["key_id"] != after["key_id"]) == (purpose == "signing")
    assert (wrapping_key(before) != wrapping_key(after)) == (purpose == "wrapping")
    for decision_id in ("old", "new"):
        assert api.get(f"/v1/decisions/{decision_id}/record").status_code == 200
        assert api.get(f"/v1/decisions/{decision_id}/receipt").status_code == 200
        assert api.ingest({"decision_id": decision_id}).status_code == 200
        assert api.ingest({"decision_id": decision_id, "more": 1}).status_code == 409


def test_no_key_is_created_under_a_master_key_that_unwraps_nothing(organization, settings):
    keyring(organization.pk)  # cached by this process, whose master key changes now
    settings.MASTER_KEYS = [bytes(32)]
    with pytest.raises(MasterKeyWrong):
        services.rotate_key(caller=callers.system(organization.pk), purpose=Purpose.WRAPPING)


def test_both_public_halves_are_listed_and_the_earlier_one_is_retired(api):
    api.ingest({"decision_id": "a"})
    rotate(api.organization, "signing")
    earlier, now = api.get("/v1/custody/keys").json()["items"]
    assert earlier["retired_at"] is not None
    assert now["retired_at"] is None
    assert earlier["public_key_pem"] != now["public_key_pem"]


@pytest.mark.once
def test_a_rotation_is_audited(api):
    api.ingest({"decision_id": "a"})
    rotate(api.organization, "wrapping")
    event = AuditEvent.objects.get(verb="custody_key.rotated")
    active = Key.objects.get(organization=api.organization, purpose="wrapping", retired_at=None)
    assert (event.object_id, event.detail["purpose"]) == (active.key_id, "wrapping")


def test_the_index_key_is_never_replaced(organization):
    keyring(organization.id)
    with pytest.raises(CommandError):
        rotate(organization, "index")
    with pytest.raises(NeverRotated):
        services.rotate_key(caller=callers.system(organization.id), purpose=Purpose.INDEX)


@pytest.mark.once
@pytest.mark.parametrize("role", [role for role in Role if role is not Role.OWNER])
def test_only_an_owner_rotates_keys(organization_without_keys, role):
    caller = replace(callers.system(organization_without_keys.id), role=role)
    with pytest.raises(NotAllowed):
        services.rotate_key(caller=caller, purpose=Purpose.SIGNING)
    assert not Key.objects.exists()


def test_a_running_process_follows_a_rotation_elsewhere(organization, monkeypatch):
    """A process reads the rows once a second; here, at each use."""
    monkeypatch.setattr(changes, "SECONDS", 0)
    first = keyring(organization.id)
    known = dict(keyrings._known._rows)
    rotate(organization, "signing")
    keyrings._known._rows.update(known)  # as in a process that has not read the new rows
    assert keyring(organization.id).signer.key_id != first.signer.key_id


def test_a_record_sealed_elsewhere_under_a_newer_key_opens_at_once(api):
    api.ingest({"decision_id": "old"})
    known = dict(keyrings._known._rows)
    rotate(api.organization, "wrapping")
    assert api.ingest({"decision_id": "new"}).status_code == 201
    keyrings._known._rows.update(known)  # as in a process that has not read the new rows yet
    assert api.get("/v1/decisions/new/record").status_code == 200
    keyrings._known._rows.update(known)
    assert api.ingest({"decision_id": "new"}).status_code == 200


def test_concurrent_rotations_leave_one_key_in_use(shared_database):
    organization = an_organization()
    keyring(organization.id)
    at_once(4, lambda _: rotate(organization, "wrapping"))
    assert Key.objects.filter(purpose="wrapping").count() == 5
    assert Key.objects.filter(purpose="wrapping", retired_at=None).count() == 1


def test_records_stored_during_rotations_are_all_readable(shared_database, api_for):
    organization = an_organization()
    callers = [api_for(organization) for _ in range(4)]

    def work(number):
        if number == 4:
            for purpose in ("wrapping", "signing") * 3:
                rotate(organization, purpose)
            return []
        return [callers[number].ingest({"decision_id": f"{number}-{i}"}).status_code for i in range(6)]

    statuses = [status for batch in at_once(5, work) for status in batch]
    assert statuses == [201] * 24
    keyrings.forget()
    assert Entry.objects.count() == 24
    for number in range(4):
        for i in range(6):
            assert callers[number].get(f"/v1/decisions/{number}-{i}/record").status_code == 200
            assert callers[number].get(f"/v1/decisions/{number}-{i}/receipt").status_code == 200
