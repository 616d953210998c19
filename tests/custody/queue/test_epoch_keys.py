"""Epoch keys: one call to the key management service for minutes of ingest, and none that is used past its end."""

import os
import threading
from datetime import timedelta

import pytest
from cryptography.hazmat.primitives.keywrap import aes_key_unwrap

from custody import vaults
from custody.keys import epoch_keys, kms
from custody.keys.keyrings import Purpose, keyring
from custody.keys.kms import KmsUnavailable, Wrapped
from custody.models import Entry, KeyOutage, WaitingObject, object_key
from custody.sealing import sealer
from custody.services import reconcile
from tests.support.web_server import Reply
from tests.threads import HANGS_SECONDS, at_once

pytestmark = [pytest.mark.django_db, pytest.mark.once]

FRESH, LONGEST = timedelta(seconds=300), timedelta(seconds=1800)
DEK = os.urandom(32)


@pytest.fixture
def wrapper(organization, customer):
    customer.holds(organization, Purpose.WRAPPING)
    customer.calls.clear()
    return keyring(organization.id).wrapper


def test_one_call_wraps_the_data_keys_of_minutes(wrapper, customer, clock):
    wrapped = [wrapper.wrap(DEK) for _ in range(50)]
    assert customer.calls == ["encrypt"]
    clock.pass_by(FRESH - timedelta(seconds=1))
    wrapper.wrap(DEK)
    assert customer.calls == ["encrypt"]
    assert {wrapper.unwrap(key) for key in wrapped} == {DEK}
    assert customer.calls == ["encrypt"], "it remembers its own epoch key"


def test_after_five_minutes_a_new_epoch_key_is_made(wrapper, customer, clock):
    first = wrapper.wrap(DEK)
    clock.pass_by(FRESH)
    second = wrapper.wrap(DEK)
    assert customer.calls == ["encrypt"] * 2
    assert epoch_keys._parts(first)[1] != epoch_keys._parts(second)[1]


def test_the_object_and_the_key_management_service_are_enough_to_open_a_record(api, organization, customer):
    """It needs nothing of ours: no row, no master key, no cache."""
    customer.holds(organization, Purpose.WRAPPING)
    raw = b'{"decision_id": "loan-1"}'
    api.ingest(raw)
    reconcile()
    entry = Entry.objects.get()
    body = vaults.current().get(object_key(organization.id, entry.pk))
    header, ciphertext = sealer.unpack(body)
    named, blob, wrapped_dek = epoch_keys._parts(header.wrapped_dek)
    name, _, version = named.decode().partition("\n")
    assert name in customer.kms.keys
    configuration = customer.key(Purpose.WRAPPING, "another") | {"kms_key": name}
    epoch = kms.service("gcp", configuration, organization.id).unwrap(Wrapped(name, version, blob))
    secrets = sealer.derive(aes_key_unwrap(epoch, wrapped_dek))
    cipher = sealer.AESGCM(secrets.encryption_key)
    assert cipher.decrypt(ciphertext[:12], ciphertext[12:], organization.id.bytes + entry.pk.bytes) == raw


def test_another_process_unwraps_once_and_remembers_for_minutes(wrapper, customer, clock):
    wrapped = wrapper.wrap(DEK)
    epoch_keys.forget()
    for _ in range(3):
        assert wrapper.unwrap(wrapped) == DEK
    assert customer.calls == ["encrypt", "decrypt"]
    clock.pass_by(timedelta(seconds=301))
    wrapper.unwrap(wrapped)
    assert customer.calls == ["encrypt", "decrypt", "decrypt"]


def test_the_number_of_remembered_epoch_keys_is_limited(wrapper, customer, clock, monkeypatch):
    monkeypatch.setattr(epoch_keys, "_MAX_REMEMBERED", 3)
    wrapped = []
    for _ in range(5):
        epoch_keys.forget()
        wrapped.append(wrapper.wrap(DEK))
    epoch_keys.forget()
    for key in wrapped:
        wrapper.unwrap(key)
    assert len(epoch_keys._opened._secrets) == 3
    customer.calls.clear()
    for key in wrapped[-3:]:
        wrapper.unwrap(key)
    assert customer.calls == []
    wrapper.unwrap(wrapped[0])
    assert customer.calls == ["decrypt"]


@pytest.mark.parametrize("status", [503, 403])
def test_in_an_outage_the_last_epoch_key_is_used_for_half_an_hour_only(wrapper, customer, clock, status):
    wrapper.wrap(DEK)
    customer.status = status
    clock.pass_by(FRESH)
    for _ in range(20):
        wrapper.wrap(DEK)
    assert customer.calls == ["encrypt"] * 2, "no call is repeated within seconds"
    clock.pass_by(LONGEST - FRESH - timedelta(seconds=1))
    wrapped = wrapper.wrap(DEK)
    assert wrapper.unwrap(wrapped) == DEK
    clock.pass_by(timedelta(seconds=2))
    with pytest.raises(KmsUnavailable) as refused:
        wrapper.wrap(DEK)
    assert 1 <= refused.value.retry_after <= 10
    customer.status = 200
    clock.pass_by(timedelta(seconds=11))
    wrapper.wrap(DEK)


def test_while_the_service_is_away_calls_are_not_repeated_at_once(wrapper, customer, clock):
    wrapped = wrapper.wrap(DEK)
    epoch_keys.forget()
    customer.status = 503
    for _ in range(5):
        with pytest.raises(KmsUnavailable) as failed:
            wrapper.unwrap(wrapped)
        assert failed.value.retry_after
    assert customer.calls == ["encrypt", "decrypt"]
    customer.status = 200
    clock.pass_by(timedelta(seconds=11))
    assert wrapper.unwrap(wrapped) == DEK


def test_a_slow_refusal_is_not_waited_for_again_at_once(wrapper, customer, clock, monkeypatch):
    wrapped = wrapper.wrap(DEK)
    epoch_keys.forget()
    asked = []

    def refuses_slowly(request):
        asked.append(request)
        clock.pass_by(timedelta(seconds=2))
        return Reply(b"", 403)

    with monkeypatch.context() as patched:
        patched.setattr(customer.kms, "answer", refuses_slowly)
        for _ in range(5):
            with pytest.raises(KmsUnavailable):
                wrapper.unwrap(wrapped)
    assert len(asked) == 1
    wrapper.wrap(DEK)  # new records are still taken
    clock.pass_by(timedelta(seconds=11))
    assert wrapper.unwrap(wrapped) == DEK


def test_a_refused_earlier_epoch_key_does_not_stop_new_records(wrapper, customer):
    """For example after an old version of the key was disabled: only reading its records fails."""
    wrapped = wrapper.wrap(DEK)
    (key,) = customer.kms.keys.values()
    key.rotate()
    key.versions[0].state = "DISABLED"
    epoch_keys.forget()
    with pytest.raises(KmsUnavailable):
        wrapper.unwrap(wrapped)
    assert wrapper.unwrap(wrapper.wrap(DEK)) == DEK


def test_without_a_live_epoch_key_ingest_is_503_and_nothing_is_stored(api, queueing, customer, another_process):
    another_process()
    customer.status = 503
    answer = api.ingest({"decision_id": "loan-1"})
    assert answer.status_code == 503
    assert 1 <= int(answer["Retry-After"]) <= 10
    assert "kms" not in answer.content.decode().lower().replace("key management", "")
    assert not Entry.objects.exists()
    assert not WaitingObject.objects.exists()
    assert KeyOutage.objects.get().key.purpose == "wrapping"
    customer.status = 200
    another_process()
    assert api.ingest({"decision_id": "loan-1"}).status_code == 202
    assert not KeyOutage.objects.exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda wrapped: b"",
        lambda wrapped: b"EPK2" + wrapped[4:],
        lambda wrapped: wrapped[:-1],
        lambda wrapped: wrapped + b"\0",
        lambda wrapped: wrapped[:4] + b"\xff\xff" + wrapped[6:],
        lambda wrapped: wrapped[:-40] + os.urandom(40),
    ],
)
def test_a_changed_wrapped_key_is_damage_and_not_an_outage(wrapper, damage):
    changed = damage(wrapper.wrap(DEK))
    with pytest.raises((ValueError, sealer.InvalidUnwrap)):
        wrapper.unwrap(changed)
    assert not KeyOutage.objects.exists()


def test_the_first_threads_together_make_one_epoch_key(shared_database, organization, customer):
    customer.holds(organization, Purpose.WRAPPING)
    customer.calls.clear()
    wrapper = keyring(organization.id).wrapper
    assert len({epoch_keys._parts(wrapped)[1] for wrapped in at_once(8, lambda _: wrapper.wrap(DEK))}) == 1
    assert customer.calls == ["encrypt"]


def test_while_one_thread_renews_the_epoch_key_others_use_the_last_one(shared_database, organization, customer, clock):
    customer.holds(organization, Purpose.WRAPPING)
    wrapper = keyring(organization.id).wrapper
    before = epoch_keys._parts(wrapper.wrap(DEK))[1]
    clock.pass_by(FRESH)
    asked, answer = threading.Event(), threading.Event()
    original = customer.answer

    def slow(request):
        asked.set()
        answer.wait(HANGS_SECONDS)
        return original(request)

    customer.kms.answer = slow
    renewing = threading.Thread(target=at_once, args=(1, lambda _: wrapper.wrap(DEK)))
    renewing.start()
    assert asked.wait(HANGS_SECONDS)
    assert epoch_keys._parts(wrapper.wrap(DEK))[1] == before
    answer.set()
    renewing.join()
    assert epoch_keys._parts(wrapper.wrap(DEK))[1] != before


def test_two_organizations_with_one_wrapping_key_share_no_epoch_key(api, other_api, customer):
    (first,) = customer.holds(api.organization, Purpose.WRAPPING)
    (second,) = customer.holds(other_api.organization, Purpose.WRAPPING)
    assert first.key_id == second.key_id
    epochs = {
        epoch_keys._parts(keyring(client.organization.id).wrapper.wrap(DEK))[1]
        for client in (api, other_api)
        for _ in "ab"
    }
    assert len(epochs) == 2


def test_a_forked_process_has_no_epoch_key_and_no_held_lock_of_its_parent(wrapper, customer):
    """The child calls nothing on the network: it prints its state and ends."""
    wrapper.wrap(DEK)
    state = wrapper._state
    with state.renewing:  # as by another thread at that moment
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            known = (wrapper._state.own, wrapper._state.renewing.locked(), len(epoch_keys._opened._secrets))
            os.write(writer, repr(known).encode())
            os._exit(0)
        os.close(writer)
        with open(reader) as output:
            assert output.read() == "(None, False, 0)"
        os.waitpid(child, 0)
    assert wrapper._state is state


def test_no_printed_form_shows_a_secret(wrapper, organization):
    wrapper.wrap(DEK)
    own = wrapper._state.own
    for shown in (repr(own), repr(wrapper._state), repr(keyring(organization.id))):
        assert repr(own.secret) not in shown
        assert own.secret.hex() not in shown
        assert repr(keyring(organization.id).index_key) not in shown
